import { type FormEvent, useEffect, useId, useRef, useState } from "react";
import type { ModelProvider } from "@/api/types";
import { Button } from "@/ui/Button";
import { Field } from "@/ui/Field";
import { Fact, Facts } from "@/ui/KeyValues";
import { Modal } from "@/ui/Modal";
import { Refusal } from "@/ui/Refusal";
import { formatDuration } from "@/ui/time";
import { type Probe, probeProvider, SERVER_TITLE, useChange } from "./models";

const TOOLS = {
  native: "work",
  text: "written as text, not as calls",
  none: "not made when asked to",
} as const;

/** Asks a provider about its models and tests one of them with a few short calls. */
export function ProbeDialog({ provider, close }: { provider: ModelProvider; close: () => void }) {
  const [model, setModel] = useState("");
  const names = useId();
  const probe = useChange(probeProvider);
  const { mutate } = probe;
  const { name } = provider;
  const hasBegun = useRef(false);
  useEffect(() => {
    if (hasBegun.current) return;
    hasBegun.current = true;
    mutate({ name, model: null });
  }, [name, mutate]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    mutate({ name, model: model.trim() || null });
  };
  return (
    <Modal
      open
      onOpenChange={close}
      title={`Test ${name}`}
      description="Reads the list of models and makes three short calls to one of them."
    >
      <form onSubmit={submit} className="mt-4 space-y-4">
        <datalist id={names}>
          {probe.data?.models?.map((one) => (
            <option key={one.name} value={one.name} />
          ))}
        </datalist>
        <Field
          label="Model"
          mono
          list={names}
          autoComplete="off"
          spellCheck={false}
          maxLength={200}
          placeholder="one in use, or the first"
          value={model}
          onChange={(event) => setModel(event.target.value)}
          action={
            <Button
              look="primary"
              type="submit"
              className="h-8 pointer-coarse:h-10"
              disabled={probe.isPending}
            >
              Test again
            </Button>
          }
        />
        <div role="status">
          {probe.isPending && (
            <p className="appear-late text-dim">Testing. A server may have to load the model first…</p>
          )}
          {probe.data && !probe.isPending && <Outcome probe={probe.data} />}
        </div>
        {!probe.isPending && <Refusal error={probe.error} />}
      </form>
    </Modal>
  );
}

function Outcome({ probe }: { probe: Probe }) {
  const { provider, models = [], trial, problem, hint } = probe;
  if (problem) return <Refusal error={{ message: problem, hint }} />;
  return (
    <div className="space-y-4">
      <Facts>
        <Fact name="Server">{provider.server ? SERVER_TITLE[provider.server] : "unknown"}</Fact>
        <Fact name="Concurrent requests">{provider.parallel ?? "no limit"}</Fact>
      </Facts>
      <ul
        aria-label="Models"
        className="max-h-60 divide-y divide-line overflow-y-auto rounded-md border border-line"
      >
        {models.map((model) => (
          <li key={model.name} className="flex items-baseline gap-3 px-3 py-1.5">
            <span className="mono min-w-0 break-all">{model.name}</span>
            <span className="ml-auto shrink-0 text-xs text-dim">
              {model.context_window
                ? `${model.context_window.toLocaleString("en")} tokens`
                : "context window not reported"}
              {model.is_loaded && ", loaded"}
            </span>
          </li>
        ))}
      </ul>
      {trial && <Trial trial={trial} />}
    </div>
  );
}

function Trial({ trial }: { trial: NonNullable<Probe["trial"]> }) {
  return (
    <div className="space-y-3">
      <Facts>
        <Fact name="Tested">
          <span className="mono break-all">{trial.model}</span>
        </Fact>
        {trial.first_token_ms != null && (
          <Fact name="First token after">
            <span className="mono">{formatDuration(trial.first_token_ms)}</span>
          </Fact>
        )}
        {trial.tokens_per_second != null && (
          <Fact name="Speed">
            <span className="mono">{trial.tokens_per_second} tokens/s</span>
          </Fact>
        )}
        {trial.tools && <Fact name="Tool calls">{TOOLS[trial.tools]}</Fact>}
        {trial.schema_support != null && (
          <Fact name="JSON schemas">{trial.schema_support ? "followed" : "not followed"}</Fact>
        )}
      </Facts>
      {trial.problem && <Refusal error={{ message: trial.problem, hint: trial.hint }} />}
    </div>
  );
}
