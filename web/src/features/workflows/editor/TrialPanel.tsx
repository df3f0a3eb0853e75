import { useMutation } from "@tanstack/react-query";
import { FlaskConical, X } from "lucide-react";
import { useState } from "react";
import type { WorkflowStepDetail } from "@/api/types";
import { dryRun } from "@/api/workflows";
import { Button, IconButton } from "@/ui/Button";
import { Refusal } from "@/ui/Refusal";
import { State } from "../canvas/StepNode";
import type { Definition, Json } from "../definition/model";
import { JsonField } from "./fields/JsonField";
import { isObject } from "./json";
import { SidePanel } from "./SidePanel";

type Props = {
  /** What it is saved as. */
  reference: string;
  definition: Definition;
  close: () => void;
  select: (ids: readonly string[]) => void;
};

/** What would happen if what is on the page ran: nothing is sent, asked or changed. */
export function TrialPanel({ reference, definition, close, select }: Props) {
  const [payload, setPayload] = useState<Json | undefined>(() => exampleOf(definition));
  const trial = useMutation({ mutationFn: dryRun, meta: { isShownInPlace: true } });
  const run = () =>
    trial.mutate({
      ref: reference,
      payload: isObject(payload) ? payload : {},
      definition: { ...definition },
    });
  return (
    <SidePanel
      label="Dry run"
      title="Dry run"
      actions={
        <IconButton label="Close the dry run" onClick={close}>
          <X size={14} aria-hidden />
        </IconButton>
      }
    >
      <p className="text-xs text-dim">
        Goes through the steps as they are on the page, saved or not, with no effect: each gives a sample or
        says what it would have done.
      </p>
      <JsonField label="What it starts with" rows={4} value={payload} references={[]} onChange={setPayload} />
      <Button look="primary" disabled={trial.isPending} onClick={run}>
        <FlaskConical size={13} aria-hidden /> {trial.isPending ? "Going through it…" : "Go through it"}
      </Button>
      <Refusal error={trial.error ?? trial.data?.error} />
      {trial.data && (
        <ol aria-label="Steps of the dry run" className="space-y-1.5">
          {trial.data.steps.map((step) => (
            <TriedStep key={step.key} step={step} open={() => select([step.step])} />
          ))}
        </ol>
      )}
      {trial.data && trial.data.error === null && <Value name="Output" of={trial.data.output} isOpen />}
    </SidePanel>
  );
}

function TriedStep({ step, open }: { step: WorkflowStepDetail; open: () => void }) {
  const { key, name, status, note, error, input, output } = step;
  return (
    <li className="rounded-md border border-line px-2.5 py-1.5">
      <div className="flex items-center gap-2">
        <button
          type="button"
          onClick={open}
          className="min-w-0 truncate rounded-sm font-medium hover:underline"
        >
          {name || key}
        </button>
        <span className="ml-auto flex shrink-0 items-center gap-1.5 text-xs">
          <State mark={{ status }} />
        </span>
      </div>
      {(error?.message || note) && (
        <p className={error ? "text-xs text-bad" : "text-xs text-dim"}>{error?.message ?? note}</p>
      )}
      {input != null && <Value name="Would do" of={input} />}
      {output != null && <Value name="Gives" of={output} />}
    </li>
  );
}

function Value({ name, of, isOpen = false }: { name: string; of: unknown; isOpen?: boolean }) {
  return (
    <details open={isOpen} className="text-xs">
      <summary className="cursor-pointer rounded-sm py-0.5 text-dim hover:text-ink">{name}</summary>
      <pre
        tabIndex={0}
        className="mono max-h-52 overflow-auto rounded-sm bg-bg p-1.5 break-words whitespace-pre-wrap"
      >
        {JSON.stringify(of, null, 2)}
      </pre>
    </details>
  );
}

/** Its defaults, and the names of what is required. */
function exampleOf({ inputs = {} }: Definition): Json {
  const entries = Object.entries(inputs).flatMap(([name, { default: value, required, enum: few }]) =>
    value !== undefined || required ? [[name, value ?? few?.[0] ?? ""]] : [],
  );
  return Object.fromEntries(entries);
}
