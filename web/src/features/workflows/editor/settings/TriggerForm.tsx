import { useQuery } from "@tanstack/react-query";
import { secretsQuery } from "@/api/secrets";
import { Field } from "@/ui/Field";
import { SelectField } from "@/ui/SelectField";
import type {
  CronTrigger,
  EventTrigger,
  FileWatchTrigger,
  ManualTrigger,
  Trigger,
  WebhookTrigger,
} from "../../definition/model";
import { LinesField, NameField, NumberField } from "../fields/plain";
import { TemplateField } from "../fields/TemplateField";
import { TypedField } from "../fields/TypedField";
import { type Read, readObject, shownJson } from "../json";
import type { Reference } from "../references";

type FormOf<One extends Trigger> = { trigger: One; onChange: (trigger: One) => void };

/** The settings of one trigger. */
export function TriggerForm({ trigger, onChange }: FormOf<Exclude<Trigger, ManualTrigger>>) {
  if (trigger.type === "cron") return <CronForm trigger={trigger} onChange={onChange} />;
  if (trigger.type === "webhook") return <WebhookForm trigger={trigger} onChange={onChange} />;
  if (trigger.type === "event") return <EventForm trigger={trigger} onChange={onChange} />;
  return <FilesForm trigger={trigger} onChange={onChange} />;
}

function CronForm({ trigger, onChange }: FormOf<CronTrigger>) {
  return (
    <>
      <Field
        label="Schedule"
        mono
        required
        hint="For example daily at 9am, every 15 minutes, mondays at 8:30, or a cron expression with five or six fields."
        value={trigger.schedule}
        onChange={({ target }) => onChange({ ...trigger, schedule: target.value })}
      />
      <Field
        label="Time zone"
        mono
        placeholder="UTC"
        hint={
          <button
            type="button"
            className="rounded-sm underline underline-offset-2"
            onClick={() =>
              onChange({ ...trigger, timezone: Intl.DateTimeFormat().resolvedOptions().timeZone })
            }
          >
            Use mine
          </button>
        }
        value={trigger.timezone ?? ""}
        onChange={({ target }) => onChange({ ...trigger, timezone: target.value || undefined })}
      />
      <SelectField
        label="Missed runs"
        value={trigger.catch_up ?? "once"}
        options={[
          { value: "once", label: "run once" },
          { value: "skip", label: "skip" },
          { value: "all", label: "run each" },
        ]}
        onChange={(catch_up) => onChange({ ...trigger, catch_up })}
      />
      <TypedField
        label="Inputs"
        rows={2}
        hint="A JSON object."
        value={someOf(trigger.inputs)}
        shown={shownJson}
        read={readInputs}
        references={[]}
        onChange={(inputs) => onChange({ ...trigger, inputs })}
      />
    </>
  );
}

type Inputs = CronTrigger["inputs"];

/** An empty object equals no inputs. */
const someOf = (inputs: Inputs): Inputs => (Object.keys(inputs ?? {}).length > 0 ? inputs : undefined);

function readInputs(text: string): Read<Inputs> {
  const read = readObject(text);
  return read.problem === null ? { ...read, value: someOf(read.value) } : read;
}

function WebhookForm({ trigger, onChange }: FormOf<WebhookTrigger>) {
  const secrets = useQuery(secretsQuery).data ?? [];
  const names = [...new Set(secrets.map(({ name }) => name))];
  const { auth } = trigger;
  return (
    <>
      <Field
        label="Path"
        mono
        required
        spellCheck={false}
        placeholder="/github/push"
        hint="Requests arrive at /webhooks followed by this path."
        value={trigger.path}
        onChange={({ target }) => onChange({ ...trigger, path: target.value })}
      />
      <SelectField
        label="Authentication"
        value={auth?.type ?? "none"}
        options={[
          { value: "hmac_sha256", label: "signed requests (HMAC SHA-256)" },
          { value: "bearer_token", label: "bearer token" },
          { value: "none", label: "none: anyone who knows the path" },
        ]}
        onChange={(type) =>
          onChange({
            ...trigger,
            auth: type === "none" ? undefined : { type, secret_name: auth?.secret_name ?? "" },
          })
        }
      />
      {auth && (
        <NameField
          label="Secret"
          value={auth.secret_name}
          known={names.map((name) => ({ value: name, label: name }))}
          nothing="Choose a secret…"
          hint="From the vault, in Settings, Secrets."
          onChange={(secret_name) => onChange({ ...trigger, auth: { ...auth, secret_name } })}
        />
      )}
      <NumberField
        label="Maximum age, in seconds"
        usual="300"
        min={10}
        max={86_400}
        value={trigger.tolerance_secs}
        onChange={(tolerance_secs) => onChange({ ...trigger, tolerance_secs })}
      />
      <WhenField trigger={trigger} onChange={onChange} />
    </>
  );
}

function EventForm({ trigger, onChange }: FormOf<EventTrigger>) {
  return (
    <>
      <Field
        label="Event"
        mono
        required
        spellCheck={false}
        placeholder="run.failed"
        hint="The event type, as in the log."
        value={trigger.event_type}
        onChange={({ target }) => onChange({ ...trigger, event_type: target.value })}
      />
      <Field
        label="Source"
        mono
        spellCheck={false}
        placeholder="*"
        hint="* for anything, or workflow:name, bot:slug, skill:name, kind:run-kind."
        value={trigger.source ?? ""}
        onChange={({ target }) => onChange({ ...trigger, source: target.value || undefined })}
      />
      <WhenField trigger={trigger} onChange={onChange} />
    </>
  );
}

function FilesForm({ trigger, onChange }: FormOf<FileWatchTrigger>) {
  return (
    <>
      <LinesField
        label="Folders or files"
        placeholder="/data/inbox"
        hint="One per line."
        value={trigger.paths}
        onChange={(paths) => onChange({ ...trigger, paths })}
      />
      <LinesField
        label="Patterns"
        placeholder="*.csv"
        hint="One per line. Default: every file."
        value={trigger.patterns ?? []}
        onChange={(patterns) =>
          onChange({ ...trigger, patterns: patterns.length > 0 ? patterns : undefined })
        }
      />
      <WhenField trigger={trigger} onChange={onChange} />
    </>
  );
}

const WHEN: readonly Reference[] = [
  { group: "Event", label: "event", text: "event" },
  { group: "Trigger", label: "source", text: "trigger.source" },
  { group: "Trigger", label: "fired_at", text: "trigger.fired_at" },
];

function WhenField<One extends Trigger & { when?: string | undefined }>({ trigger, onChange }: FormOf<One>) {
  return (
    <TemplateField
      label="Only when"
      isExpression
      placeholder='event.ref == "refs/heads/main"'
      hint="An expression over event. If it is false, nothing starts."
      value={trigger.when ?? ""}
      references={WHEN}
      onChange={(when) => onChange({ ...trigger, when: when || undefined })}
    />
  );
}
