/** The layout of the canvas: stored positions, and an automatic layout from top to bottom for the rest. */
import { Graph, layout as rank } from "@dagrejs/dagre";
import type { Definition, Point } from "../definition/model";
import { type Link, linksOf, type Way } from "../definition/scopes";
import { BAND, type Box, type BoxKind, boxesOf, stepsIn } from "./boxes";

export type Size = { width: number; height: number };
export type Rect = Point & Size;

export const STEP: Size = { width: 208, height: 54 };
const EMPTY_LOOP: Size = { width: 240, height: 104 };
const BETWEEN = { nodesep: 36, ranksep: 52 };
const BAND_GAP = 64;

/** The padding of frames. */
const EDGE: Record<Exclude<BoxKind, "step">, { side: number; top: number; bottom: number }> = {
  loop: { side: 20, top: 64, bottom: 24 },
  group: { side: 16, top: 40, bottom: 16 },
  band: { side: 20, top: 40, bottom: 20 },
};

export type Layout = {
  boxes: readonly Box[];
  links: readonly Link[];
  /** By box ID, in canvas coordinates; boxes in folded frames included. */
  rects: ReadonlyMap<string, Rect>;
  /** Routes of long links by `routeKey`; only if no positions are stored. */
  routes: ReadonlyMap<string, readonly Point[]>;
};

export const routeKey = (from: string, to: string): string => `${from} ${to}`;

export function layOut(definition: Definition): Layout {
  const boxes = boxesOf(definition);
  const links = linksOf(definition);
  const stored = new Map(
    definition.steps.flatMap(({ id, ui }) => (ui?.position ? [[id, ui.position] as const] : [])),
  );
  const isWhole = definition.steps.every(({ id }) => stored.has(id));
  const automatic = new Map<string, Point>();
  const routes = new Map<string, Point[]>();
  if (!isWhole) {
    const band = boxes.find(({ id }) => id === BAND);
    const main = arranged(
      boxes.filter((box) => box !== band),
      links,
    );
    settle(main, { x: 0, y: 0 }, { places: automatic, routes });
    const below = { x: 0, y: main.size.height + BAND_GAP };
    if (band) settle(arranged([band], links), below, { places: automatic, routes });
  }
  const rects = new Map<string, Rect>();
  const places = combined(boxes, stored, automatic);
  for (const box of boxes) frame(box, places, rects);
  return { boxes, links, rects, routes: stored.size === 0 ? routes : new Map() };
}

type Arranged = {
  size: Size;
  at: { box: Box; x: number; y: number; inner: Arranged | null }[];
  /** Only links that skip at least one row. */
  routes: { key: string; points: Point[] }[];
};
/** A link to the next row has three points. */
const SHORT = 3;

/** Lay out boxes with dagre, starting at 0, 0. */
function arranged(boxes: readonly Box[], links: readonly Link[]): Arranged {
  const graph = new Graph().setGraph({ rankdir: "TB", ...BETWEEN }).setDefaultEdgeLabel(() => ({}));
  const holder = new Map(boxes.flatMap((box) => stepsIn(box).map((id) => [id, box.id] as const)));
  const inner = new Map<string, Arranged>();
  for (const box of boxes) {
    if (box.members.length > 0) inner.set(box.id, arranged(box.members, links));
    graph.setNode(box.id, { ...sizeOf(box, inner.get(box.id)) });
  }
  // Dagre places the edge added last at the left.
  for (const { from, to } of links.toReversed().sort(fromTheRight)) {
    const [source, target] = [holder.get(from), holder.get(to)];
    if (source && target && source !== target) graph.setEdge(source, target);
  }
  if (boxes.length > 0) rank(graph);
  const { width = 0, height = 0 } = graph.graph() as Partial<Size>;
  const at = boxes.map((box) => {
    const { x, y, width, height } = graph.node(box.id) as Rect;
    return { box, x: x - width / 2, y: y - height / 2, inner: inner.get(box.id) ?? null };
  });
  const routes = graph.edges().flatMap(({ v, w }) => {
    const { points = [] } = graph.edge(v, w) as { points?: Point[] };
    return points.length > SHORT ? [{ key: routeKey(v, w), points: points.slice(1, -1) }] : [];
  });
  return { size: { width, height }, at, routes };
}

/** In the order of a step's outputs, so that links do not cross. */
const WAYS: readonly Way[] = ["then", "after", "else", "rejected", "error"];
const fromTheRight = (a: Link, b: Link): number => WAYS.indexOf(b.way) - WAYS.indexOf(a.way);

function sizeOf(box: Box, inner: Arranged | undefined): Size {
  if (box.isFolded || box.kind === "step") return STEP;
  if (!inner) return EMPTY_LOOP;
  const { side, top, bottom } = EDGE[box.kind];
  return { width: inner.size.width + 2 * side, height: inner.size.height + top + bottom };
}

type Settled = { places: Map<string, Point>; routes: Map<string, Point[]> };

/** Assign the automatic positions of boxes and routes. */
function settle({ at, routes }: Arranged, origin: Point, into: Settled): void {
  for (const { key, points } of routes) {
    into.routes.set(
      key,
      points.map(({ x, y }) => ({ x: origin.x + x, y: origin.y + y })),
    );
  }
  for (const { box, x, y, inner } of at) {
    const here = { x: origin.x + x, y: origin.y + y };
    if (!inner || box.kind === "step") into.places.set(box.id, here);
    else {
      const { side, top } = EDGE[box.kind];
      settle(inner, { x: here.x + side, y: here.y + top }, into);
    }
  }
}

/** Stored positions are kept; the others are shifted to stay near them. */
function combined(
  boxes: readonly Box[],
  stored: ReadonlyMap<string, Point>,
  automatic: ReadonlyMap<string, Point>,
): Map<string, Point> {
  const places = new Map([...automatic, ...stored]);
  const shift = (box: Box, outer: Point) => {
    const ids = stepsIn(box);
    const by = meanShift(ids, stored, automatic) ?? outer;
    for (const member of box.members) shift(member, by);
    const at = automatic.get(box.id);
    if (box.members.length === 0 && at && !stored.has(box.id)) {
      places.set(box.id, { x: at.x + outer.x, y: at.y + outer.y });
    }
  };
  const all = meanShift(boxes.flatMap(stepsIn), stored, automatic) ?? { x: 0, y: 0 };
  for (const box of boxes) shift(box, all);
  return places;
}

function meanShift(
  ids: readonly string[],
  stored: ReadonlyMap<string, Point>,
  automatic: ReadonlyMap<string, Point>,
): Point | null {
  const shifts = ids.flatMap((id) => {
    const [to, from] = [stored.get(id), automatic.get(id)];
    return to && from ? [{ x: to.x - from.x, y: to.y - from.y }] : [];
  });
  if (shifts.length === 0) return null;
  const mean = (pick: (point: Point) => number) =>
    shifts.reduce((sum, point) => sum + pick(point), 0) / shifts.length;
  return { x: mean(({ x }) => x), y: mean(({ y }) => y) };
}

/** Frames enclose their members. */
function frame(box: Box, places: ReadonlyMap<string, Point>, rects: Map<string, Rect>): Rect {
  const members = box.members.map((member) => frame(member, places, rects));
  const rect =
    box.kind === "step" || members.length === 0
      ? { ...(places.get(box.id) ?? { x: 0, y: 0 }), ...(box.kind === "loop" ? EMPTY_LOOP : STEP) }
      : around(members, EDGE[box.kind]);
  const shown = box.isFolded ? { x: rect.x, y: rect.y, ...STEP } : rect;
  rects.set(box.id, shown);
  return shown;
}

function around(rects: readonly Rect[], edge: (typeof EDGE)["loop"]): Rect {
  const left = Math.min(...rects.map(({ x }) => x)) - edge.side;
  const top = Math.min(...rects.map(({ y }) => y)) - edge.top;
  const right = Math.max(...rects.map(({ x, width }) => x + width)) + edge.side;
  const bottom = Math.max(...rects.map(({ y, height }) => y + height)) + edge.bottom;
  return { x: left, y: top, width: right - left, height: bottom - top };
}
