import { useMemo } from "react";
import type { Definition } from "../definition/model";
import { linksOf } from "../definition/scopes";
import { type Layout, layOut } from "./layout";

/** Recomputes the layout only if the shape changes, not while typing into a prompt. */
export function useLayout(definition: Definition): Layout {
  const shape = useMemo(() => shapeOf(definition), [definition]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the shape is all of it that counts
  return useMemo(() => layOut(definition), [shape]);
}

function shapeOf(definition: Definition): string {
  const steps = definition.steps.map(({ id, name, type, ui, config }) => [
    id,
    name,
    type,
    ui,
    config.type === "loop" && config.body_steps,
  ]);
  return JSON.stringify([steps, linksOf(definition), definition.finally]);
}
