/** How steps are drawn: position, group and folding. Does not affect runs. */
import type { Definition, Point, Step, StepUi } from "./model";

/** Omits empty values to keep them out of the YAML. */
function drawn(step: Step, patch: StepUi): Step {
  const { ui: before, ...rest } = step;
  const ui = { ...before, ...patch };
  if (!ui.collapsed) delete ui.collapsed;
  if (!ui.group) delete ui.group;
  if (!ui.position) delete ui.position;
  return Object.keys(ui).length > 0 ? { ...rest, ui } : rest;
}

function drawing(definition: Definition, ids: readonly string[], patch: StepUi): Definition {
  const chosen = new Set(ids);
  return {
    ...definition,
    steps: definition.steps.map((step) => (chosen.has(step.id) ? drawn(step, patch) : step)),
  };
}

/** Set positions by step ID; other steps are unchanged. */
export function moved(definition: Definition, positions: ReadonlyMap<string, Point>): Definition {
  const steps = definition.steps.map((step) => {
    const at = positions.get(step.id);
    return at ? drawn(step, { position: { x: Math.round(at.x), y: Math.round(at.y) } }) : step;
  });
  return { ...definition, steps };
}

/** Remove all positions, so that the automatic layout applies. */
export const unplaced = (definition: Definition): Definition =>
  drawing(
    definition,
    definition.steps.map(({ id }) => id),
    { position: undefined },
  );

export const isPlaced = ({ steps }: Definition): boolean =>
  steps.some(({ ui }) => ui?.position !== undefined);

export const grouped = (definition: Definition, ids: readonly string[], group: string): Definition =>
  drawing(definition, ids, { group });

export const ungrouped = (definition: Definition, ids: readonly string[]): Definition =>
  drawing(definition, ids, { group: undefined, collapsed: undefined });

export const folded = (definition: Definition, ids: readonly string[], collapsed: boolean): Definition =>
  drawing(definition, ids, { collapsed });

/** `Group`, or `Group 2` if that exists. */
export function freeGroup({ steps }: Definition): string {
  const taken = new Set(steps.map(({ ui }) => ui?.group));
  let name = "Group";
  for (let number = 2; taken.has(name); number += 1) name = `Group ${number}`;
  return name;
}
