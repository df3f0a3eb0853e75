import { useReactFlow } from "@xyflow/react";
import type { DragEvent } from "react";
import type { Point, StepType } from "../definition/model";
import { moved } from "../definition/places";
import { added } from "../definition/steps";
import type { CanvasView } from "./contract";
import { type Layout, STEP } from "./layout";
import { DRAGGED, STEP_TYPES } from "./steps";

type Options = Pick<CanvasView, "definition" | "onSelect" | "onChange"> & { layout: Layout };

/** Adds a palette step where it is dropped, inside the loop at that point. */
export function useDropped({ definition, layout, onSelect, onChange }: Options) {
  const { screenToFlowPosition } = useReactFlow();
  if (!onChange) return {};
  return {
    onDragOver: (event: DragEvent) => {
      if (!event.dataTransfer.types.includes(DRAGGED)) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = "copy";
    },
    onDrop: (event: DragEvent) => {
      const type = event.dataTransfer.getData(DRAGGED);
      if (!isType(type)) return;
      event.preventDefault();
      const at = screenToFlowPosition({ x: event.clientX, y: event.clientY });
      const position = { x: at.x - STEP.width / 2, y: at.y - STEP.height / 2 };
      const fixed = moved(definition, whereNow(layout));
      const made = added(fixed, type, { position, inside: loopAt(layout, at) });
      onChange(moved(made.definition, new Map([[made.id, position]])));
      onSelect([made.id]);
    },
  };
}

const isType = (type: string): type is StepType => (STEP_TYPES as readonly string[]).includes(type);

/** Fix the current positions, so that adding a step does not move the others. */
const whereNow = ({ rects }: Layout): Map<string, Point> =>
  new Map([...rects].map(([id, { x, y }]) => [id, { x, y }]));

/** The innermost loop around a point. */
function loopAt({ boxes, rects }: Layout, { x, y }: Point): string | null {
  let found: string | null = null;
  const walk = (box: Layout["boxes"][number]) => {
    const rect = rects.get(box.id);
    const isIn = rect && x >= rect.x && x <= rect.x + rect.width && y >= rect.y && y <= rect.y + rect.height;
    if (isIn && box.kind === "loop" && !box.isFolded) found = box.id;
    if (!box.isFolded) for (const member of box.members) walk(member);
  };
  for (const box of boxes) walk(box);
  return found;
}
