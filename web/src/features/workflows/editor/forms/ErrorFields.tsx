import { CheckField } from "@/ui/CheckField";
import { Disclosure } from "@/ui/Disclosure";
import { SelectField } from "@/ui/SelectField";
import { wrongLink } from "../../definition/links";
import { type Definition, type RetryPolicy, type Step, titleOf } from "../../definition/model";
import { LinesField, NumberField } from "../fields/plain";
import { TemplateField } from "../fields/TemplateField";
import type { Reference } from "../references";

type Props = {
  definition: Definition;
  step: Step;
  set: (patch: Partial<Step>) => void;
  references: readonly Reference[];
};

/** Condition, time limit and error handling of a step. */
export function ErrorFields({ definition, step, set, references }: Props) {
  const isHandled = step.retry !== undefined || (step.on_error ?? "fail") !== "fail";
  return (
    <>
      <Disclosure
        title="Condition and time limit"
        isOpen={Boolean(step.condition) || step.timeout_secs !== undefined}
      >
        <TemplateField
          label="Only if"
          isExpression
          rows={2}
          placeholder="inputs.publish == true"
          hint="An expression. If it is false, the step is skipped."
          value={step.condition ?? ""}
          references={references}
          onChange={(condition) => set({ condition: condition || undefined })}
        />
        <NumberField
          label="Time limit in seconds"
          usual="300"
          min={1}
          value={step.timeout_secs}
          onChange={(timeout_secs) => set({ timeout_secs })}
        />
      </Disclosure>
      <Disclosure title="On failure" isOpen={isHandled}>
        <RetryFields retry={step.retry} set={(retry) => set({ retry })} />
        <HandlerFields definition={definition} step={step} set={set} />
      </Disclosure>
    </>
  );
}

function HandlerFields({ definition, step, set }: Omit<Props, "references">) {
  const handler = step.on_error ?? "fail";
  const goto = typeof handler === "object" ? handler.goto : "";
  const choices = definition.steps.filter(
    ({ id }) => id === goto || wrongLink(definition, { from: step.id, to: id, way: "error" }) === null,
  );
  return (
    <>
      <SelectField
        label="After the last attempt"
        value={typeof handler === "object" ? "goto" : handler}
        options={[
          { value: "fail", label: "fail the run" },
          { value: "continue", label: "continue without its output" },
          ...(choices.length > 0 ? [{ value: "goto" as const, label: "go to another step" }] : []),
        ]}
        onChange={(way) => set({ on_error: way === "goto" ? { goto: goto || (choices[0]?.id ?? "") } : way })}
      />
      {typeof handler === "object" && (
        <SelectField
          label="Go to"
          value={goto}
          options={choices.map((choice) => ({ value: choice.id, label: titleOf(choice) }))}
          hint="Runs instead of the steps that depend on this one."
          onChange={(id) => set({ on_error: { goto: id } })}
        />
      )}
    </>
  );
}

type RetryProps = { retry: RetryPolicy | undefined; set: (retry: RetryPolicy | undefined) => void };

function RetryFields({ retry, set }: RetryProps) {
  const change = (patch: RetryPolicy) => set({ ...retry, ...patch });
  return (
    <>
      <CheckField
        label="Retry"
        hint="With exponential backoff."
        checked={retry !== undefined}
        onChange={(isOn) => set(isOn ? { max_attempts: 3 } : undefined)}
      />
      {retry && (
        <>
          <SelectField
            label="Strategy"
            value={retry.strategy ?? "simple"}
            options={[
              { value: "simple", label: "same input" },
              { value: "llm_self_correct", label: "input corrected by a model" },
            ]}
            onChange={(strategy) => change({ strategy })}
          />
          <div className="grid grid-cols-2 gap-3">
            <NumberField
              label="Attempts"
              usual="3"
              min={1}
              max={10}
              value={retry.max_attempts}
              onChange={(max_attempts) => change({ max_attempts })}
            />
            <NumberField
              label="Initial delay in seconds"
              usual="1"
              min={0}
              step={0.1}
              value={retry.delay_secs}
              onChange={(delay_secs) => change({ delay_secs })}
            />
            <NumberField
              label="Backoff factor"
              usual="2"
              min={1}
              max={10}
              step={0.1}
              value={retry.factor}
              onChange={(factor) => change({ factor })}
            />
            <NumberField
              label="Maximum delay in seconds"
              usual="60"
              min={0}
              value={retry.max_delay_secs}
              onChange={(max_delay_secs) => change({ max_delay_secs })}
            />
            <NumberField
              label="Jitter"
              usual="0.1"
              min={0}
              max={1}
              step={0.05}
              value={retry.jitter}
              onChange={(jitter) => change({ jitter })}
            />
          </div>
          <LinesField
            label="Only on these errors"
            placeholder="timeout"
            hint="Error codes, one per line; * for any. Default: transient errors."
            value={retry.retry_on ?? []}
            onChange={(codes) => change({ retry_on: codes.length > 0 ? codes : undefined })}
          />
        </>
      )}
    </>
  );
}
