/** Finds the box that an arrow key leads to. */
import type { Rect } from "./layout";

export type Direction = "up" | "down" | "left" | "right";

/** Steps are arranged in rows: up and down change the row, left and right stay in it. */
const ASIDE: Record<Direction, number> = { up: 0.5, down: 0.5, left: 2, right: 2 };

/** The nearest box in that direction; null at the edge. */
export function nearest(rects: ReadonlyMap<string, Rect>, from: string, direction: Direction): string | null {
  const start = rects.get(from);
  if (!start) return null;
  let best: { id: string; distance: number } | null = null;
  for (const [id, rect] of rects) {
    if (id === from) continue;
    const [ahead, aside] = offset(start, rect, direction);
    if (ahead <= 0) continue;
    const distance = ahead + ASIDE[direction] * Math.abs(aside);
    if (!best || distance < best.distance) best = { id, distance };
  }
  return best?.id ?? null;
}

/** Distance along and across the direction. Vertically the top edges count, since frames are high. */
function offset(from: Rect, to: Rect, direction: Direction): [number, number] {
  const aside = to.x + to.width / 2 - (from.x + from.width / 2);
  const below = to.y - from.y;
  if (direction === "down") return [below, aside];
  if (direction === "up") return [-below, aside];
  return direction === "right" ? [aside, below] : [-aside, below];
}
