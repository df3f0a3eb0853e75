import { type FormEvent, useEffect, useRef, useState } from "react";
import { Button } from "@/ui/Button";
import { Field } from "@/ui/Field";
import { Fact, Facts } from "@/ui/KeyValues";
import { Modal } from "@/ui/Modal";
import { formatMicros } from "@/ui/money";
import { Refusal } from "@/ui/Refusal";
import { formatDuration } from "@/ui/time";
import { type Trial, testModel, useChange } from "./models";

type Props = {
  /** Called immediately if `isCertain`. */
  model: string;
  isCertain: boolean;
  /** The ID of a datalist with model names. */
  suggestions: string;
  close: () => void;
};

/** Makes a real model call and shows its result. */
export function TestDialog({ model, isCertain, suggestions, close }: Props) {
  const [name, setName] = useState(model);
  const test = useChange(testModel);
  const { mutate } = test;
  const hasBegun = useRef(false);
  useEffect(() => {
    if (!isCertain || hasBegun.current) return;
    hasBegun.current = true;
    mutate(model);
  }, [isCertain, model, mutate]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    mutate(name.trim());
  };
  return (
    <Modal
      open
      onOpenChange={close}
      title="Test a model"
      description="Makes a real call that asks for one word. It has a small cost."
    >
      <form onSubmit={submit} className="mt-4 space-y-4">
        <Field
          label="Model"
          mono
          required
          list={suggestions}
          autoComplete="off"
          spellCheck={false}
          value={name}
          onChange={(event) => setName(event.target.value)}
          action={
            <Button
              look="primary"
              type="submit"
              className="h-8 pointer-coarse:h-10"
              disabled={!name.trim() || test.isPending}
            >
              {test.data || test.error ? "Test again" : "Test"}
            </Button>
          }
        />
        <div role="status">
          {test.isPending && <p className="appear-late text-dim">Waiting for the answer…</p>}
          {test.data && !test.isPending && <Outcome trial={test.data} />}
        </div>
        {!test.isPending && <Refusal error={test.error} />}
      </form>
    </Modal>
  );
}

function Outcome({ trial }: { trial: Trial }) {
  if (!trial.ok) return <Refusal error={trial} />;
  return (
    <Facts>
      <Fact name="Result">
        <span className="text-ok">ok</span>
      </Fact>
      <Fact name="Answer">
        <span className="break-words">{trial.answer || "empty"}</span>
      </Fact>
      <Fact name="Duration">
        <span className="mono">{formatDuration(trial.latency_ms)}</span>
      </Fact>
      <Fact name="Cost">
        <span className="mono">{formatMicros(trial.cost_micros ?? 0)}</span>
      </Fact>
    </Facts>
  );
}
