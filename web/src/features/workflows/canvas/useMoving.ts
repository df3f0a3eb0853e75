import { applyNodeChanges, type NodeChange, useReactFlow } from "@xyflow/react";
import { useMemo, useState } from "react";
import type { Definition, Point } from "../definition/model";
import { moved } from "../definition/places";
import { type Box, stepsIn } from "./boxes";
import type { BoxNode } from "./drawing";
import type { Layout } from "./layout";

type Options = {
  definition: Definition;
  layout: Layout;
  drawn: readonly BoxNode[];
  selected: readonly string[];
  /** The only box in the tab order. */
  tabStop: string | null;
  onSelect: (ids: readonly string[]) => void;
  change: (definition: Definition) => void;
};

/** The nodes during a drag, and the selection. Dropping stores the positions. */
export function useMoving({ definition, layout, drawn, selected, tabStop, onSelect, change }: Options) {
  const { getInternalNode } = useReactFlow();
  const [local, setLocal] = useState({ of: drawn, nodes: [...drawn] });
  if (local.of !== drawn) setLocal({ of: drawn, nodes: [...drawn] });
  const chosen = useMemo(() => new Set(selected), [selected]);
  const nodes = useMemo(
    () => local.nodes.map((node) => standing(node, chosen.has(node.id), tabStop === node.id)),
    [local.nodes, chosen, tabStop],
  );
  const onNodesChange = (changes: NodeChange<BoxNode>[]) => {
    const picks = changes.filter((one) => one.type === "select");
    if (picks.length > 0) {
      const next = new Set(selected);
      for (const { id, selected: isOn } of picks) {
        if (isOn) next.add(id);
        else next.delete(id);
      }
      onSelect([...next]);
    }
    const moves = changes.filter((one) => one.type === "position");
    if (moves.length > 0) setLocal(({ of, nodes }) => ({ of, nodes: applyNodeChanges(moves, nodes) }));
  };
  const onDragStop = () => {
    const at = (id: string) => getInternalNode(id)?.internals.positionAbsolute;
    const positions = positionsOf(layout, at);
    const isMoved = [...positions].some(([id, { x, y }]) => {
      const rect = layout.rects.get(id);
      return rect && Math.abs(rect.x - x) + Math.abs(rect.y - y) > 1;
    });
    if (isMoved) change(moved(definition, positions));
    else setLocal({ of: drawn, nodes: [...drawn] });
  };
  return { nodes, onNodesChange, onDragStop };
}

function standing(node: BoxNode, isSelected: boolean, isTabStop: boolean): BoxNode {
  const { box } = node.data;
  const domAttributes = {
    "aria-roledescription": undefined,
    ...(box.kind !== "band" && { tabIndex: isTabStop ? 0 : -1 }),
    ...(box.kind === "step" && { "aria-pressed": isSelected }),
  };
  return { ...node, selected: isSelected, domAttributes };
}

/** The current position of every step. All are stored, so that none moves later by itself. */
function positionsOf(layout: Layout, at: (id: string) => Point | undefined): Map<string, Point> {
  const positions = new Map<string, Point>();
  const walk = (box: Box) => {
    if (box.isFolded) {
      const [to, from] = [at(box.id), layout.rects.get(box.id)];
      for (const id of to && from ? stepsIn(box) : []) {
        const rect = layout.rects.get(id);
        if (rect && to && from) positions.set(id, { x: rect.x + to.x - from.x, y: rect.y + to.y - from.y });
      }
      return;
    }
    const here = box.step && at(box.id);
    if (here) positions.set(box.id, { x: here.x, y: here.y });
    for (const member of box.members) walk(member);
  };
  for (const box of layout.boxes) walk(box);
  return positions;
}
