import { SelectField } from "@/ui/SelectField";
import { NumberField } from "../fields/plain";
import { TemplateField } from "../fields/TemplateField";
import { ChosenSteps } from "./FlowForms";
import type { ConfigForm } from "./form";

/** Wait until a person decides. Nobody's silence is a refusal unless it says so here. */
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
        label="When it is rejected"
        value={config.on_reject ?? "skip"}
        options={[
          { value: "skip", label: "skip what depends on it" },
          { value: "fail", label: "fail the run" },
          { value: "continue", label: "go on all the same" },
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
        label="Time to decide, in seconds"
        usual="as long as it takes"
        min={1}
        value={config.timeout_secs}
        onChange={(timeout_secs) => set({ timeout_secs })}
      />
      {config.timeout_secs !== undefined && (
        <SelectField
          label="If there is no decision in time"
          value={config.on_timeout ?? "fail"}
          options={[
            { value: "fail", label: "the step fails" },
            { value: "reject", label: "it counts as rejected" },
            { value: "approve", label: "it counts as approved" },
          ]}
          onChange={(on_timeout) => set({ on_timeout })}
        />
      )}
    </>
  );
}
