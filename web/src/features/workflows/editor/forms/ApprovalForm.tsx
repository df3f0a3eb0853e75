import { SelectField } from "@/ui/SelectField";
import { NumberField } from "../fields/plain";
import { TemplateField } from "../fields/TemplateField";
import { ChosenSteps } from "./FlowForms";
import type { ConfigForm } from "./form";

/** Wait for a person's decision. */
export function ApprovalForm({ config, set, references, ...where }: ConfigForm<"approval">) {
  return (
    <>
      <TemplateField
        label="Question"
        rows={4}
        required
        placeholder="Publish this? {{ steps.write.output.response }}"
        hint="Shown to the person. Include everything needed to decide."
        value={config.prompt}
        references={references}
        onChange={(prompt) => set({ prompt })}
      />
      <SelectField
        label="If rejected"
        value={config.on_reject ?? "skip"}
        options={[
          { value: "skip", label: "skip dependent steps" },
          { value: "fail", label: "fail the run" },
          { value: "continue", label: "continue anyway" },
        ]}
        onChange={(on_reject) => set({ on_reject })}
      />
      <ChosenSteps
        {...where}
        label="Only when rejected"
        way="rejected"
        value={config.rejected_steps ?? []}
        hint="These steps run instead of the ones that depend on it."
      />
      <NumberField
        label="Decision timeout in seconds"
        usual="no limit"
        min={1}
        value={config.timeout_secs}
        onChange={(timeout_secs) => set({ timeout_secs })}
      />
      {config.timeout_secs !== undefined && (
        <SelectField
          label="On timeout"
          value={config.on_timeout ?? "fail"}
          options={[
            { value: "fail", label: "fail the step" },
            { value: "reject", label: "reject" },
            { value: "approve", label: "approve" },
          ]}
          onChange={(on_timeout) => set({ on_timeout })}
        />
      )}
    </>
  );
}
