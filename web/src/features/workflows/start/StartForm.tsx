import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Play } from "lucide-react";
import { type FormEvent, useState } from "react";
import { ApiError } from "@/api/client";
import type { WorkflowSubmitted } from "@/api/types";
import { Button } from "@/ui/Button";
import { CheckField } from "@/ui/CheckField";
import { TextArea } from "@/ui/Field";
import { readInput, writtenOut } from "@/ui/json";
import { Kbd } from "@/ui/Kbd";
import { onSend } from "@/ui/keys";
import { Refusal } from "@/ui/Refusal";
import { Segmented } from "@/ui/Segmented";
import type { Input } from "../definition/model";
import { fieldsOf, othersOf, readTyped, typedOf } from "./form";
import { InputField } from "./InputField";

export type Wish = { payload: Record<string, unknown>; useLatest: boolean };

export type StartProps = {
  inputs: Readonly<Record<string, Input>>;
  /** Initial values. */
  given?: Readonly<Record<string, unknown>>;
  start: (wish: Wish) => Promise<WorkflowSubmitted>;
  /** The newest version if it is newer than that of a repeated run. */
  newer?: number | null;
  close: () => void;
};

const WAYS = [
  { value: "form", label: "Form" },
  { value: "json", label: "JSON" },
] as const;

/** The inputs as form or JSON. Opens the run's page after the start. */
export function StartForm({ inputs, given = {}, start, newer = null, close }: StartProps) {
  const navigate = useNavigate();
  const fields = fieldsOf(inputs);
  const [others, setOthers] = useState(() => othersOf(inputs, given));
  const names = Object.keys(others);
  const [way, setWay] = useState<"form" | "json">(fields.length > 0 && names.length === 0 ? "form" : "json");
  const [typed, setTyped] = useState(() => typedOf(inputs, given));
  const [text, setText] = useState(() => (Object.keys(given).length > 0 ? writtenOut(given) : ""));
  const [isTouched, setTouched] = useState(false);
  const [useLatest, setLatest] = useState(false);
  const run = useMutation({
    mutationFn: start,
    meta: { isShownInPlace: true },
    onSuccess: ({ run_id }) => {
      close();
      return navigate({ to: "/workflows/runs/$runId", params: { runId: run_id } });
    },
  });
  const form = readTyped(fields, typed);
  const payload = { ...form.payload, ...others };
  const json = readInput(text);
  const isReady = way === "form" ? Object.keys(form.mistakes).length === 0 : json.problem === null;
  const refused = run.error instanceof ApiError ? run.error : null;
  const isAtField = way === "form" && fields.some(({ name }) => name === refused?.field);

  // Switching would lose invalid values.
  const canLeave =
    way === "json" ? json.input !== null : fields.every(({ name }) => !typed[name] || !form.mistakes[name]);
  const turn = (to: "form" | "json") => {
    if (!canLeave) return setTouched(true);
    if (to === "json") setText(writtenOut(payload));
    else if (json.input) {
      setTyped(typedOf(inputs, json.input));
      setOthers(othersOf(inputs, json.input));
    }
    setWay(to);
  };
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    setTouched(true);
    if (!isReady || run.isPending) return;
    run.mutate({ payload: way === "form" ? payload : (json.input ?? {}), useLatest });
  };
  return (
    <form onSubmit={submit} onKeyDown={onSend(submit)} noValidate className="mt-4 space-y-4">
      {way === "form" ? (
        fields.map((field) => (
          <InputField
            key={field.name}
            field={field}
            text={typed[field.name] ?? ""}
            mistake={
              refused?.field === field.name
                ? refused.message
                : isTouched
                  ? form.mistakes[field.name]
                  : undefined
            }
            change={(value) => {
              run.reset();
              setTyped((before) => ({ ...before, [field.name]: value }));
            }}
          />
        ))
      ) : (
        <TextArea
          label="Input"
          mono
          rows={6}
          spellCheck={false}
          placeholder="{}"
          value={text}
          error={isTouched ? json.problem : null}
          hint="A JSON object."
          onChange={(event) => setText(event.target.value)}
          onBlur={() => setTouched(true)}
        />
      )}
      {way === "form" && names.length > 0 && (
        <p className="text-xs text-dim">
          Other values from the JSON are included: <span className="mono">{names.join(", ")}</span>.
        </p>
      )}
      {newer !== null && (
        <CheckField
          label="Use the newest version"
          hint={`Version ${newer} instead of the original one.`}
          checked={useLatest}
          onChange={setLatest}
        />
      )}
      {!isAtField && <Refusal error={run.error} />}
      <div className="flex flex-wrap items-center justify-end gap-2">
        {fields.length > 0 && (
          <span className="mr-auto">
            <Segmented label="Format" value={way} options={WAYS} onChange={turn} />
          </span>
        )}
        <Button look="ghost" onClick={close}>
          Cancel
        </Button>
        <Button look="primary" type="submit" disabled={run.isPending}>
          <Play size={13} aria-hidden /> {run.isPending ? "Starting…" : "Run"} <Kbd keys="mod+enter" />
        </Button>
      </div>
    </form>
  );
}
