import { Copy, Group, Trash2, Ungroup, X } from "lucide-react";
import { Button, IconButton } from "@/ui/Button";
import { count } from "@/ui/count";
import { Field } from "@/ui/Field";
import { Kbd } from "@/ui/Kbd";
import { type Definition, stepOf, titleOf } from "../definition/model";
import { freeGroup, grouped, ungrouped } from "../definition/places";
import { duplicated, removed } from "../definition/steps";
import type { Change } from "./forms/form";
import { SidePanel } from "./SidePanel";

type Props = {
  definition: Definition;
  ids: readonly string[];
  change: Change;
  select: (ids: readonly string[]) => void;
};

/** The panel for several selected steps. */
export function SelectionPanel({ definition, ids, change, select }: Props) {
  const steps = ids.flatMap((id) => stepOf(definition, id) ?? []);
  const groups = new Set(steps.map(({ ui }) => ui?.group));
  const [group] = groups;
  const isGroup = groups.size === 1 && group !== undefined;
  return (
    <SidePanel
      label="Selected steps"
      title={count(steps.length, "step")}
      actions={
        <IconButton label="Clear selection" onClick={() => select([])}>
          <X size={14} aria-hidden />
        </IconButton>
      }
    >
      <ul className="max-h-52 divide-y divide-line overflow-auto rounded-md border border-line">
        {steps.map((step) => (
          <li key={step.id}>
            <button
              type="button"
              onClick={() => select([step.id])}
              className="flex h-7 w-full items-center px-2.5 text-left -outline-offset-2 hover:bg-raised/60"
            >
              <span className="truncate">{titleOf(step)}</span>
            </button>
          </li>
        ))}
      </ul>
      {isGroup && (
        <Field
          label="Group name"
          maxLength={100}
          value={group}
          onChange={({ target }) => {
            if (target.value) change(grouped(definition, ids, target.value), "group");
          }}
        />
      )}
      <div className="flex flex-wrap gap-2">
        <Button
          onClick={() => {
            const copied = duplicated(definition, ids);
            change(copied.definition);
            select(copied.ids);
          }}
        >
          <Copy size={13} aria-hidden /> Duplicate <Kbd keys="mod+d" />
        </Button>
        {isGroup ? (
          <Button onClick={() => change(ungrouped(definition, ids))}>
            <Ungroup size={13} aria-hidden /> Ungroup
          </Button>
        ) : (
          <Button onClick={() => change(grouped(definition, ids, freeGroup(definition)))}>
            <Group size={13} aria-hidden /> Group
          </Button>
        )}
        <Button
          look="danger"
          onClick={() => {
            select([]);
            change(removed(definition, ids));
          }}
        >
          <Trash2 size={13} aria-hidden /> Remove
        </Button>
      </div>
      <p className="text-xs text-dim">
        A group is a collapsible frame on the canvas. It does not affect runs.
      </p>
    </SidePanel>
  );
}
