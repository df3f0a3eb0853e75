/** SVG paths with rounded corners. */
import type { Point } from "../definition/model";

const ROUND = 10;

export function pathThrough(points: readonly Point[]): string {
  const [start, ...rest] = points;
  if (!start) return "";
  const parts = [`M ${start.x} ${start.y}`];
  rest.forEach((point, index) => {
    const [before, after] = [points[index] ?? start, rest[index + 1]];
    if (!after) parts.push(`L ${point.x} ${point.y}`);
    else {
      const [enter, leave] = [toward(point, before), toward(point, after)];
      parts.push(`L ${enter.x} ${enter.y} Q ${point.x} ${point.y} ${leave.x} ${leave.y}`);
    }
  });
  return parts.join(" ");
}

/** A point a little way from one point to another, at most half of it. */
function toward(from: Point, to: Point): Point {
  const distance = Math.hypot(to.x - from.x, to.y - from.y);
  const share = distance === 0 ? 0 : Math.min(ROUND / distance, 0.5);
  return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
}

/** The point half way along the line. */
export function middleOf(points: readonly Point[]): Point {
  const lengths = points.slice(1).map((point, index) => {
    const before = points[index] ?? point;
    return Math.hypot(point.x - before.x, point.y - before.y);
  });
  let left = lengths.reduce((sum, length) => sum + length, 0) / 2;
  for (const [index, length] of lengths.entries()) {
    const [from, to] = [points[index], points[index + 1]];
    if (from && to && left <= length && length > 0) {
      const share = left / length;
      return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
    }
    left -= length;
  }
  return points[0] ?? { x: 0, y: 0 };
}
