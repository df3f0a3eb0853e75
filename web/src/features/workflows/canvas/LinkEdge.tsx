import { BaseEdge, type EdgeProps, getSmoothStepPath } from "@xyflow/react";
import { memo } from "react";
import { type LinkEdge as Edge, wordOf } from "./drawing";

/** A line from one step to the next. What is not sure to happen is dashed, and says when it does. */
export const LinkEdge = memo(function LinkEdge({ data, selected, markerEnd, id, ...ends }: EdgeProps<Edge>) {
  const [path, labelX, labelY] = getSmoothStepPath({ ...ends, borderRadius: 8, offset: 16 });
  const way = data?.way ?? "after";
  return (
    <BaseEdge
      id={id}
      path={path}
      {...(markerEnd && { markerEnd })}
      labelX={labelX}
      labelY={labelY}
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
