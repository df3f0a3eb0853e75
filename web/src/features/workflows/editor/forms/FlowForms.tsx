/** Forms of control flow steps: conditions, loops, waiting. */
import { SelectField } from "@/ui/SelectField";
import { linked, unlinked, wrongLink } from "../../definition/links";
import { isInside, scopeOfLoop, scopesOf, TOP, type Way } from "../../definition/scopes";
import { placed } from "../../definition/steps";
import { JsonField } from "../fields/JsonField";
import { NumberField } from "../fields/plain";
import { StepsField } from "../fields/StepsField";
import { TemplateField } from "../fields/TemplateField";
import { TypedField } from "../fields/TypedField";
import type { ConfigForm } from "./form";

type ChosenProps = Pick<ConfigForm<"wait">, "id" | "definition" | "change"> & {
  label: string;
  way: Way;
  value: readonly string[];
  hint?: string;
};

/** The steps that a step selects in one way. */
export function ChosenSteps({ id, definition, change, label, way, value, hint }: ChosenProps) {
  const link = (to: string) => ({ from: id, to, way });
  return (
    <StepsField
      label={label}
      hint={hint}
      definition={definition}
      value={value}
      choices={definition.steps
        .map((step) => step.id)
        .filter((to) => wrongLink(definition, link(to)) === null)}
      onAdd={(to) => change(linked(definition, link(to)))}
      onRemove={(to) => change(unlinked(definition, link(to)))}
    />
  );
}

const EXPRESSION_HINT = "An expression such as steps.fetch.output.status == 200 && inputs.limit > 3.";

export function ConditionalForm({ config, set, references, ...where }: ConfigForm<"conditional">) {
  return (
    <>
      <TemplateField
        label="Condition"
        isExpression
        required
        rows={2}
        placeholder="steps.check.output.status == 200"
        hint={EXPRESSION_HINT}
        value={config.condition}
        references={references}
        onChange={(condition) => set({ condition })}
      />
      <ChosenSteps
        {...where}
        label="Then"
        way="then"
        value={config.then_steps ?? []}
        hint="Runs only if the condition is true."
      />
      <ChosenSteps
        {...where}
        label="Else"
        way="else"
        value={config.else_steps ?? []}
        hint="Runs only if the condition is false."
      />
    </>
  );
}

export function LoopForm({ id, config, set, references, definition, change }: ConfigForm<"loop">) {
  const isWhile = config.condition !== undefined;
  const scopes = scopesOf(definition);
  const choices = definition.steps
    .map((step) => step.id)
    .filter((other) => scopes.get(other) !== scopeOfLoop(id) && !isInside(scopes, id, other));
  return (
    <>
      <SelectField
        label="Repeat"
        value={isWhile ? "while" : "items"}
        options={[
          { value: "items", label: "for each item of a list" },
          { value: "while", label: "while a condition holds" },
        ]}
        onChange={(kind) =>
          set(kind === "while" ? { condition: "", items: undefined } : { condition: undefined, items: "" })
        }
      />
      {isWhile ? (
        <TemplateField
          label="While"
          isExpression
          rows={2}
          required
          placeholder="steps.next.output.body.more == true"
          hint={EXPRESSION_HINT}
          value={config.condition ?? ""}
          references={references}
          onChange={(condition) => set({ condition })}
        />
      ) : (
        <JsonField
          label="Items"
          hint="A JSON list, or a template that returns one. Each item is available as loop.item."
          placeholder="{{ steps.list.output.body }}"
          rows={2}
          value={config.items}
          references={references}
          onChange={(items = "") => set({ items })}
        />
      )}
      <StepsField
        label="Steps inside"
        hint="These steps run in every iteration and can depend on each other."
        definition={definition}
        value={config.body_steps}
        choices={choices}
        onAdd={(step) => change(placed(definition, step, scopeOfLoop(id)))}
        onRemove={(step) => change(placed(definition, step, scopes.get(id) ?? TOP))}
      />
      <div className="grid grid-cols-2 gap-3">
        <NumberField
          label="Maximum iterations"
          usual="100"
          min={1}
          max={100}
          value={config.max_iterations}
          onChange={(max_iterations) => set({ max_iterations })}
        />
        {!isWhile && (
          <NumberField
            label="Parallel iterations"
            usual="1"
            min={1}
            max={20}
            value={config.parallel}
            onChange={(parallel) => set({ parallel })}
          />
        )}
      </div>
    </>
  );
}

type Seconds = number | string;

export function WaitForm({ config, set, references }: ConfigForm<"wait">) {
  const isUntil = config.until !== undefined;
  return (
    <>
      <SelectField
        label="Wait"
        value={isUntil ? "until" : "seconds"}
        options={[
          { value: "seconds", label: "for a duration" },
          { value: "until", label: "until a time" },
        ]}
        onChange={(kind) =>
          set(kind === "until" ? { seconds: undefined, until: "" } : { seconds: 60, until: undefined })
        }
      />
      {isUntil ? (
        <TemplateField
          label="Until"
          required
          placeholder="2027-01-31T09:00:00+01:00"
          hint="A time with time zone, or a template that returns one."
          value={config.until ?? ""}
          references={references}
          onChange={(until) => set({ until })}
        />
      ) : (
        <TypedField<Seconds>
          label="Seconds"
          required
          placeholder="60"
          hint="A number, or a template that returns one. No worker is blocked while waiting."
          value={config.seconds ?? ""}
          shown={String}
          read={(text) => ({ value: isNumber(text) ? Number(text) : text, problem: null })}
          references={references}
          onChange={(seconds) => set({ seconds })}
        />
      )}
    </>
  );
}

const isNumber = (text: string): boolean => /^\s*\d+(\.\d+)?\s*$/.test(text);
