/** Converts a layout to React Flow nodes and edges. */
import { type Edge, MarkerType, type Node } from "@xyflow/react";
import type { Point } from "../definition/model";
import type { Link, Way } from "../definition/scopes";
import { STEP_WORD } from "../words";
import { type Box, shownAs, stepsIn } from "./boxes";
import type { CanvasView, StepMark } from "./contract";
import { type Layout, type Rect, routeKey } from "./layout";
import { STEP_LOOKS } from "./steps";

export type BoxData = { box: Box; mark: StepMark | null; mistakes: number; label: string };
export type BoxNode = Node<BoxData, "step" | "frame">;
export type LinkEdge = Edge<{ links: Link[]; way: Way; route: readonly Point[] | null }, "link">;

type Shown = Pick<CanvasView, "marks" | "mistakes"> & { isEditable: boolean };

/** Frames come before their members. Unchanged nodes keep their identity. */
export function nodesOf(layout: Layout, shown: Shown, before: ReadonlyMap<string, BoxNode>): BoxNode[] {
  const nodes: BoxNode[] = [];
  const draw = (box: Box, parent: { id: string; rect: Rect } | null) => {
    const rect = layout.rects.get(box.id) ?? { x: 0, y: 0, width: 0, height: 0 };
    const node = nodeOf(box, rect, parent, shown);
    const known = before.get(box.id);
    nodes.push(known && isSame(known, node) ? known : node);
    if (!box.isFolded) for (const member of box.members) draw(member, { id: box.id, rect });
  };
  for (const box of layout.boxes) draw(box, null);
  return nodes;
}

function nodeOf(box: Box, rect: Rect, parent: { id: string; rect: Rect } | null, shown: Shown): BoxNode {
  const { x, y, width, height } = rect;
  const mark = markOf(box, shown);
  const mistakes = stepsOf(box).reduce((sum, id) => sum + (shown.mistakes?.[id] ?? 0), 0);
  const label = labelOf(box, mark, mistakes);
  const isFrame = !box.isFolded && box.kind !== "step";
  return {
    id: box.id,
    type: isFrame ? "frame" : "step",
    position: parent ? { x: x - parent.rect.x, y: y - parent.rect.y } : { x, y },
    ...(parent && { parentId: parent.id }),
    width,
    height,
    measured: { width, height },
    data: { box, mark, mistakes, label },
    // The accessible name of a step is its content.
    ...(box.kind === "step"
      ? { ariaRole: "button" as const }
      : { ariaRole: "group" as const, ariaLabel: label }),
    selectable: box.kind !== "band",
    draggable: shown.isEditable,
    connectable: shown.isEditable && box.step !== null,
  };
}

/** A folded frame shows the status of all steps in it. */
const stepsOf = (box: Box): string[] => (box.isFolded ? stepsIn(box) : box.step ? [box.step.id] : []);

/** In the order of how much attention they need. */
const LOUDEST = ["failed", "waiting", "running", "retrying", "cancelled", "completed", "skipped"] as const;

function markOf(box: Box, { marks }: Shown): StepMark | null {
  if (!marks) return null;
  const own = box.step && marks[box.step.id];
  if (own) return own;
  const found = stepsOf(box).flatMap((id) => marks[id] ?? []);
  const status = LOUDEST.find((one) => found.some((mark) => mark.status === one));
  return status ? { status } : null;
}

function labelOf({ title, step, kind, isFolded }: Box, mark: StepMark | null, mistakes: number): string {
  const what = step ? `${STEP_LOOKS[step.type].word} step` : kind;
  const words = [title, what, isFolded && "folded", mark && STEP_WORD[mark.status], mark?.note];
  return [...words, mistakes > 0 && `${mistakes} to fix`].filter(Boolean).join(", ");
}

function isSame(one: BoxNode, other: BoxNode): boolean {
  return (
    one.data.box === other.data.box &&
    one.data.label === other.data.label &&
    one.type === other.type &&
    one.parentId === other.parentId &&
    one.position.x === other.position.x &&
    one.position.y === other.position.y &&
    one.width === other.width &&
    one.height === other.height &&
    one.draggable === other.draggable
  );
}

/** The label of a link; empty for a plain one. */
export function wordOf(way: Way): string {
  if (way === "after") return "";
  return way === "error" ? "on error" : way;
}

/** Links between visible boxes; several between the same two frames are merged. */
export function edgesOf({ boxes, links, routes }: Layout): LinkEdge[] {
  const shown = shownAs(boxes);
  const edges = new Map<string, LinkEdge>();
  for (const link of links) {
    const [source, target] = [shown.get(link.from), shown.get(link.to)];
    if (!source || !target || source === target) continue;
    const isDirect = source === link.from;
    const id = `${source} ${isDirect ? link.way : ""} ${target}`;
    const known = edges.get(id);
    if (known?.data) known.data.links.push(link);
    else {
      const route = isDirect && target === link.to ? routes.get(routeKey(source, target)) : null;
      edges.set(id, edgeOf({ id, source, target, link, isDirect, route: route ?? null }));
    }
  }
  return [...edges.values()];
}

type Drawn = Pick<LinkEdge, "id" | "source" | "target"> & {
  link: Link;
  isDirect: boolean;
  route: readonly Point[] | null;
};

function edgeOf({ id, source, target, link, isDirect, route }: Drawn): LinkEdge {
  const word = wordOf(link.way);
  return {
    id,
    type: "link",
    source,
    target,
    sourceHandle: isDirect ? link.way : "after",
    targetHandle: "in",
    data: { links: [link], way: link.way, route },
    ariaLabel: `${link.from} leads to ${link.to}${word && `, ${word}`}`,
    markerEnd: { type: MarkerType.ArrowClosed, width: 14, height: 14, color: "var(--edge)" },
  };
}
