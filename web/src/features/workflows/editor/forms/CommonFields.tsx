import { type ReactNode, useState } from "react";
import { Field } from "@/ui/Field";
import { SelectField } from "@/ui/SelectField";
import { linked, unlinked, wrongLink } from "../../definition/links";
import { type Definition, type Step, titleOf } from "../../definition/model";
import { renamed, wrongId } from "../../definition/naming";
import { FINALLY, isInside, scopeOfLoop, scopesOf, TOP } from "../../definition/scopes";
import { placed } from "../../definition/steps";
import { StepsField } from "../fields/StepsField";
import type { Change } from "./form";

type Props = { definition: Definition; step: Step; change: Change };

/** Name and ID of a step. Changing the ID updates all references. */
export function NameFields({
  definition,
  step,
  change,
  set,
  select,
}: Props & { set: (patch: Partial<Step>) => void; select: (id: string) => void }) {
  const [typed, setTyped] = useState(step.id);
  const mistake = wrongId(definition, typed, step.id);
  const rename = () => {
    if (typed === step.id || mistake) return;
    change(renamed(definition, step.id, typed));
    select(typed);
  };
  return (
    <div className="grid grid-cols-2 gap-3">
      <Field
        label="Name"
        maxLength={200}
        placeholder={step.id}
        value={step.name ?? ""}
        onChange={({ target }) => set({ name: target.value || undefined })}
      />
      <Field
        label="Id"
        mono
        spellCheck={false}
        autoComplete="off"
        error={mistake}
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
        onBlur={rename}
        onKeyDown={({ key }) => key === "Enter" && rename()}
      />
    </div>
  );
}

/** Dependencies and scope of a step. */
export function OrderFields({ definition, step, change }: Props): ReactNode {
  const link = (from: string) => ({ from, to: step.id, way: "after" as const });
  const scopes = scopesOf(definition);
  const loops = definition.steps.filter(({ id, type }) => type === "loop" && !isInside(scopes, id, step.id));
  const isPlain = loops.length === 0 && scopes.get(step.id) === TOP;
  return (
    <>
      <StepsField
        label="Runs after"
        hint={
          step.depends_on?.length
            ? undefined
            : "Nothing: starts immediately, or when another step selects it."
        }
        definition={definition}
        value={step.depends_on ?? []}
        choices={definition.steps
          .map(({ id }) => id)
          .filter((from) => wrongLink(definition, link(from)) === null)}
        onAdd={(from) => change(linked(definition, link(from)))}
        onRemove={(from) => change(unlinked(definition, link(from)))}
      />
      <SelectField
        label="Runs in"
        value={scopes.get(step.id) ?? TOP}
        options={[
          { value: TOP, label: "the workflow" },
          ...loops.map((loop) => ({ value: scopeOfLoop(loop.id), label: `${titleOf(loop)} (loop)` })),
          { value: FINALLY, label: "finally: runs last, whatever the outcome" },
        ]}
        {...(!isPlain && { hint: "Moving a step removes its dependencies outside the new group." })}
        onChange={(scope) => change(placed(definition, step.id, scope))}
      />
    </>
  );
}
