import { FlaskConical, X } from "lucide-react";
import type { WorkflowStepDetail } from "@/api/types";
import { Button, IconButton } from "@/ui/Button";
import { Refusal } from "@/ui/Refusal";
import { State } from "../canvas/State";
import { TypedField } from "./fields/TypedField";
import { readObject, shownJson } from "./json";
import { SidePanel } from "./SidePanel";
import type { Trial } from "./useTrial";

type Props = {
  trial: Trial;
  close: () => void;
  select: (ids: readonly string[]) => void;
};

/** A dry run of the edited workflow, without side effects. */
export function TrialPanel({ trial, close, select }: Props) {
  const { payload, samples, change, run, isPending, error, result } = trial;
  return (
    <SidePanel
      label="Dry run"
      title="Dry run"
      actions={
        <IconButton label="Close dry run" onClick={close}>
          <X size={14} aria-hidden />
        </IconButton>
      }
    >
      <p className="text-xs text-dim">
        Walks through the steps on this page without side effects. Each step returns a sample or reports what
        it would do.
      </p>
      <TypedField
        label="Input"
        rows={3}
        value={payload}
        shown={shownJson}
        read={readObject}
        references={[]}
        onChange={(value) => change({ payload: value })}
      />
      <TypedField
        label="Step outputs"
        rows={2}
        placeholder='{ "fetch": { "status": 200, "body": [1, 2] } }'
        hint="Sample outputs by step id, as JSON. Other steps use a default sample."
        value={samples}
        shown={shownJson}
        read={readObject}
        references={[]}
        onChange={(value) => change({ samples: value })}
      />
      <Button look="primary" disabled={isPending} onClick={run}>
        <FlaskConical size={13} aria-hidden /> {isPending ? "Running…" : "Start dry run"}
      </Button>
      <Refusal error={error ?? result?.error} />
      {result && (
        <ol aria-label="Dry run steps" className="space-y-1.5">
          {result.steps.map((step) => (
            <TriedStep key={step.key} step={step} open={() => select([step.step])} />
          ))}
        </ol>
      )}
      {result?.error === null && <Value name="Output" of={result.output} isOpen />}
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
      {input != null && <Value name="Would run with" of={input} />}
      {output != null && <Value name="Returns" of={output} />}
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
