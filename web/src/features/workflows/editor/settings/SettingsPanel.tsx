import { X } from "lucide-react";
import { IconButton } from "@/ui/Button";
import { Disclosure } from "@/ui/Disclosure";
import { Field, TextArea } from "@/ui/Field";
import { SelectField } from "@/ui/SelectField";
import type { Definition, Json } from "../../definition/model";
import { JsonField } from "../fields/JsonField";
import { PairsField } from "../fields/PairsField";
import { NameField, NumberField } from "../fields/plain";
import { useBotChoices } from "../forms/AgentForm";
import type { Change } from "../forms/form";
import { referencesFor } from "../references";
import { SidePanel } from "../SidePanel";
import { InputsFields } from "./InputsFields";
import { TriggersFields } from "./TriggersFields";

type Props = { definition: Definition; change: Change; close: () => void };

/** The settings of the workflow: name, triggers, inputs, outputs, limits. */
export function SettingsPanel({ definition, change, close }: Props) {
  const set = (patch: Partial<Definition>) =>
    change({ ...definition, ...patch }, `workflow ${Object.keys(patch).join()}`);
  const { inputs = {}, outputs = {}, triggers = [{ type: "manual" }] } = definition;
  return (
    <SidePanel
      label="Workflow"
      title="Workflow"
      actions={
        <IconButton label="Close settings" onClick={close}>
          <X size={14} aria-hidden />
        </IconButton>
      }
    >
      <Field
        label="Name"
        mono
        required
        maxLength={64}
        spellCheck={false}
        autoComplete="off"
        hint="Letters, digits and hyphens."
        value={definition.name}
        onChange={({ target }) => set({ name: target.value })}
      />
      <TextArea
        label="Description"
        rows={2}
        maxLength={4000}
        placeholder="Description"
        value={definition.description ?? ""}
        onChange={({ target }) => set({ description: target.value || undefined })}
      />
      <Disclosure title="Triggers" isOpen>
        <TriggersFields triggers={triggers} onChange={(next) => set({ triggers: next })} />
      </Disclosure>
      <Disclosure title="Inputs" isOpen={Object.keys(inputs).length > 0}>
        <InputsFields inputs={inputs} onChange={(next) => set({ inputs: next })} />
      </Disclosure>
      <Disclosure title="Outputs" isOpen={Object.keys(outputs).length > 0}>
        <PairsField<Json>
          label="Outputs"
          one="value"
          blank=""
          hint="Default: the output of the last step."
          value={outputs}
          onChange={(next) => set({ outputs: next })}
        >
          {(name, value, put) => (
            <JsonField
              label={`Value of ${name}`}
              rows={2}
              value={value}
              references={referencesFor(definition, null)}
              onChange={(next = "") => put(next)}
            />
          )}
        </PairsField>
      </Disclosure>
      <LimitFields definition={definition} set={set} />
      <AboutFields definition={definition} set={set} />
    </SidePanel>
  );
}

type PartProps = { definition: Definition; set: (patch: Partial<Definition>) => void };

function LimitFields({ definition, set }: PartProps) {
  return (
    <Disclosure title="Limits" isOpen={definition.concurrency !== undefined}>
      <div className="grid grid-cols-2 gap-3">
        <NumberField
          label="Concurrent runs"
          usual="any number"
          min={1}
          max={1000}
          value={definition.concurrency}
          onChange={(concurrency) => set({ concurrency })}
        />
        <NumberField
          label="Concurrent steps"
          usual="16"
          min={1}
          max={64}
          value={definition.parallel}
          onChange={(parallel) => set({ parallel })}
        />
      </div>
      {definition.concurrency !== undefined && (
        <SelectField
          label="When the limit is reached"
          value={definition.concurrency_policy ?? "queue"}
          options={[
            { value: "queue", label: "queue new runs" },
            { value: "reject", label: "reject new runs" },
            { value: "cancel_previous", label: "cancel the oldest run" },
          ]}
          onChange={(concurrency_policy) => set({ concurrency_policy })}
        />
      )}
      <NumberField
        label="Time limit in seconds"
        usual="1800"
        min={1}
        hint="Working time only; waiting for people and timers does not count."
        value={definition.timeout_secs}
        onChange={(timeout_secs) => set({ timeout_secs })}
      />
    </Disclosure>
  );
}

function AboutFields({ definition, set }: PartProps) {
  const owner = definition.owner?.type === "bot" ? definition.owner.slug : "";
  return (
    <Disclosure title="Owner and version">
      <NameField
        label="Owner"
        value={owner}
        known={useBotChoices()}
        nothing="everyone"
        hint="A workflow can belong to a bot."
        onChange={(slug) => set({ owner: slug ? { type: "bot", slug } : { type: "global" } })}
      />
      <Field
        label="Version"
        mono
        maxLength={64}
        hint="A label of your choice. Each save also gets a number."
        placeholder="1.0"
        value={definition.version ?? ""}
        onChange={({ target }) => set({ version: target.value || undefined })}
      />
    </Disclosure>
  );
}
