import type { NodeProps } from "@xyflow/react";
import { clsx } from "clsx";
import { ChevronsDownUp, Group, TriangleAlert } from "lucide-react";
import { memo } from "react";
import type { BoxNode } from "./drawing";
import { useFold } from "./folding";
import { State } from "./State";
import { Handles } from "./StepNode";
import { RING, STEP_LOOKS } from "./steps";

const LOOKS = {
  loop: "border-strong bg-raised/35",
  group: "border-dashed border-strong bg-raised/25",
  band: "border-line bg-raised/20",
  step: "",
} as const;

/** A frame around steps: a loop's body, a group, or the `finally` steps. */
export const FrameNode = memo(function FrameNode({ data, selected, isConnectable }: NodeProps<BoxNode>) {
  const { box, mark, mistakes } = data;
  const fold = useFold();
  const isLoop = box.kind === "loop";
  const Icon = isLoop ? STEP_LOOKS.loop.icon : Group;
  return (
    <div
      className={clsx(
        "h-full rounded-lg border",
        LOOKS[box.kind],
        selected && "border-accent! ring-1 ring-accent",
        !selected && mark && RING[mark.status],
      )}
    >
      <div className={clsx("flex items-center gap-2 px-3", isLoop ? "h-11" : "h-8")}>
        {box.kind !== "band" && (
          <Icon size={14} strokeWidth={1.75} aria-hidden className="shrink-0 text-dim" />
        )}
        <span className={clsx("truncate", isLoop ? "font-medium" : "text-xs font-medium text-dim")}>
          {box.title}
        </span>
        {isLoop && mark && (
          <span className="flex shrink-0 items-center gap-1.5 text-xs text-dim">
            <State mark={mark} isShort={mark.status === "completed"} />
          </span>
        )}
        {mistakes > 0 && (
          <span title={`${mistakes} to fix`} className="text-bad">
            <TriangleAlert size={14} aria-hidden />
          </span>
        )}
        {box.kind !== "band" && box.members.length > 0 && (
          <button
            type="button"
            aria-label={`Fold ${box.title}`}
            onClick={() => fold(box, true)}
            className="nodrag ml-auto grid size-6 shrink-0 place-items-center rounded-sm text-dim hover:bg-raised hover:text-ink"
          >
            <ChevronsDownUp size={13} aria-hidden />
          </button>
        )}
      </div>
      {isLoop && box.members.length === 0 && (
        <p className="px-3 text-xs text-dim">Empty: drop a step here, or add one from the panel.</p>
      )}
      {isLoop && <Handles type="loop" isConnectable={isConnectable} />}
    </div>
  );
});
