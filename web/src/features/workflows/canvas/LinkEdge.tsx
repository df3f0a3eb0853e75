import { BaseEdge, type EdgeProps, getSmoothStepPath } from "@xyflow/react";
import { memo } from "react";
import type { Point } from "../definition/model";
import { type LinkEdge as Edge, wordOf } from "./drawing";
import { middleOf, pathThrough } from "./path";

/** A link between two steps. Conditional links are dashed and labeled. */
export const LinkEdge = memo(function LinkEdge({ data, selected, markerEnd, id, ...ends }: EdgeProps<Edge>) {
  const { path, label } = lineOf(ends, data?.route ?? null);
  const way = data?.way ?? "after";
  return (
    <BaseEdge
      id={id}
      path={path}
      {...(markerEnd && { markerEnd })}
      labelX={label.x}
      labelY={label.y}
      label={wordOf(way) || undefined}
      labelBgPadding={[4, 1]}
      labelBgBorderRadius={3}
      interactionWidth={16}
      style={{
        stroke: selected ? "var(--accent)" : "var(--edge)",
        strokeWidth: selected ? 2 : 1.25,
        ...(way !== "after" && { strokeDasharray: "5 4" }),
      }}
    />
  );
});

type Ends = Pick<
  EdgeProps,
  "sourceX" | "sourceY" | "targetX" | "targetY" | "sourcePosition" | "targetPosition"
>;

function lineOf(ends: Ends, route: readonly Point[] | null): { path: string; label: Point } {
  if (!route) {
    const [path, x, y] = getSmoothStepPath({ ...ends, borderRadius: 8, offset: 16 });
    return { path, label: { x, y } };
  }
  const points = [{ x: ends.sourceX, y: ends.sourceY }, ...route, { x: ends.targetX, y: ends.targetY }];
  return { path: pathThrough(points), label: middleOf(points) };
}
