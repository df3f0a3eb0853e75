/** Forms of steps that delegate: workflows, messages, audits. */
import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { workflowsQuery } from "@/api/workflows";
import { workspacesQuery } from "@/api/workspaces";
import { CheckField } from "@/ui/CheckField";
import { Field } from "@/ui/Field";
import { SelectField } from "@/ui/SelectField";
import type { AuditVerdict } from "../../definition/model";
import { JsonField } from "../fields/JsonField";
import { NameField } from "../fields/plain";
import { TemplateField } from "../fields/TemplateField";
import { useBotChoices } from "./AgentForm";
import type { ConfigForm } from "./form";

export function SubWorkflowForm({ config, set, references, definition }: ConfigForm<"sub_workflow">) {
  const workflows = useQuery(workflowsQuery).data ?? [];
  const others = workflows.filter(({ name }) => name !== definition.name);
  return (
    <>
      <NameField
        label="Workflow"
        value={config.workflow_name}
        known={others.map(({ name }) => ({ value: name, label: name }))}
        nothing="Choose a workflow…"
        hint="Starts the newest version as a child run, at most five levels deep."
        onChange={(workflow_name) => set({ workflow_name })}
      />
      <JsonField
        label="Input"
        hint="An object with its inputs. The whole object is available as trigger."
        placeholder='{ "city": "{{ inputs.city }}" }'
        value={config.input}
        references={references}
        onChange={(input) => set({ input })}
      />
    </>
  );
}

export function MessageForm({ config, set, references }: ConfigForm<"message">) {
  const bots = useBotChoices();
  const isChannel = config.channel !== undefined;
  return (
    <>
      <SelectField
        label="Send to"
        value={isChannel ? "channel" : "bot"}
        options={[
          { value: "bot", label: "a bot" },
          { value: "channel", label: "a channel" },
        ]}
        onChange={(kind) =>
          set(
            kind === "channel"
              ? { channel: "", to: undefined, wait: undefined }
              : { to: "", channel: undefined },
          )
        }
      />
      {isChannel ? (
        <Field
          label="Channel"
          mono
          required
          placeholder="news"
          value={config.channel ?? ""}
          onChange={({ target }) => set({ channel: target.value })}
        />
      ) : (
        <NameField
          label="Bot"
          value={config.to ?? ""}
          known={bots}
          nothing="Choose a bot…"
          onChange={(to) => set({ to })}
        />
      )}
      <JsonField
        label="Message"
        hint="Text, or any JSON value."
        value={config.body}
        references={references}
        onChange={(body = "") => set({ body })}
      />
      <Field
        label="Type"
        mono
        placeholder="text"
        hint="A type the receiver can filter by."
        value={config.message_type ?? ""}
        onChange={({ target }) => set({ message_type: target.value || undefined })}
      />
      {!isChannel && (
        <CheckField
          label="Wait for a reply"
          hint="Available as output.reply."
          checked={config.wait ?? false}
          onChange={(wait) => set({ wait: wait || undefined })}
        />
      )}
    </>
  );
}

const VERDICTS: readonly { value: AuditVerdict; hint: string }[] = [
  { value: "FAIL", hint: "a check failed" },
  { value: "ERROR", hint: "a check could not run" },
  { value: "WARN", hint: "a check reported a warning" },
];
const USUAL: readonly AuditVerdict[] = ["FAIL", "ERROR"];

export function AuditForm({ config, set, references }: ConfigForm<"audit">) {
  const workspaces = useQuery(workspacesQuery).data ?? [];
  const known = useId();
  const failing = config.fail_on ?? USUAL;
  return (
    <>
      <Field
        label="Workspace"
        mono
        required
        list={known}
        placeholder="my-project"
        hint="Name or id. Templates are allowed."
        value={config.workspace}
        onChange={({ target }) => set({ workspace: target.value })}
      />
      <datalist id={known}>
        {workspaces.map(({ id, name }) => (
          <option key={id} value={name} />
        ))}
      </datalist>
      <TemplateField
        label="Base revision"
        placeholder="main"
        hint="A commit, branch or tag. Leave empty to audit everything."
        value={config.base ?? ""}
        references={references}
        onChange={(base) => set({ base: base || undefined })}
      />
      <fieldset className="space-y-1">
        <legend className="mb-1 text-xs font-medium text-dim">Fail on</legend>
        {VERDICTS.map(({ value, hint }) => (
          <CheckField
            key={value}
            label={value}
            hint={hint}
            checked={failing.includes(value)}
            onChange={(isOn) => {
              const others = failing.filter((one) => one !== value);
              set({ fail_on: isOn ? [...others, value] : others });
            }}
          />
        ))}
      </fieldset>
    </>
  );
}
