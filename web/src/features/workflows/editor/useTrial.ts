import { useMutation } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { dryRun } from "@/api/workflows";
import type { Marks, StepMark } from "../canvas/contract";
import type { Definition, Json } from "../definition/model";
import { isObject } from "./json";

type Given = { payload: Json | undefined; samples: Json | undefined };

/** A dry run of the edited workflow and its last result. `reference` is the saved workflow. */
export function useTrial(reference: string | null, definition: Definition) {
  const [given, setGiven] = useState<Given>(() => ({ payload: exampleOf(definition), samples: undefined }));
  const trial = useMutation({ mutationFn: dryRun, meta: { isShownInPlace: true } });
  const steps = trial.data?.steps;
  const marks = useMemo<Marks>(() => {
    const found = (steps ?? []).map(({ step, status }): [string, StepMark] => [step, { status }]);
    return Object.fromEntries(found);
  }, [steps]);
  const objectOf = (value: Json | undefined) => (isObject(value) ? value : {});
  return {
    ...given,
    marks,
    result: trial.data,
    error: trial.error,
    isPending: trial.isPending,
    change: (patch: Partial<Given>) => setGiven({ ...given, ...patch }),
    run: () => {
      if (reference === null) return;
      const { payload, samples } = given;
      trial.mutate({
        ref: reference,
        payload: objectOf(payload),
        samples: objectOf(samples),
        definition: { ...definition },
      });
    },
  };
}

export type Trial = ReturnType<typeof useTrial>;

/** The default values, and empty values for required inputs. */
function exampleOf({ inputs = {} }: Definition): Json {
  const entries = Object.entries(inputs).flatMap(([name, { default: value, required, enum: few }]) =>
    value !== undefined || required ? [[name, value ?? few?.[0] ?? ""]] : [],
  );
  return Object.fromEntries(entries);
}
