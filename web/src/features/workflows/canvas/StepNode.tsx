import { Handle, type NodeProps, Position } from "@xyflow/react";
import { clsx } from "clsx";
import { ChevronsUpDown, Group, TriangleAlert } from "lucide-react";
import { memo } from "react";
import { count } from "@/ui/count";
import type { StepType } from "../definition/model";
import type { Way } from "../definition/scopes";
import { type Box, stepsIn } from "./boxes";
import { type BoxNode, wordOf } from "./drawing";
import { useFold } from "./folding";
import { State } from "./State";
import { RING, STEP_LOOKS } from "./steps";

/** One step, or a folded frame. */
export const StepNode = memo(function StepNode({ data, selected, isConnectable }: NodeProps<BoxNode>) {
  const { box, mark, mistakes } = data;
  const look = box.step && STEP_LOOKS[box.step.type];
  const Icon = look?.icon ?? Group;
  return (
    <div
      className={clsx(
        "flex h-full items-center gap-2.5 rounded-md border bg-surface px-2.5",
        box.isFolded && "shadow-[3px_3px_0_var(--raised),3px_3px_0_1px_var(--line)]",
        selected ? "border-accent ring-1 ring-accent" : mark ? RING[mark.status] : "border-strong",
        mark?.status === "skipped" && "border-dashed",
      )}
    >
      <span className="grid size-7 shrink-0 place-items-center rounded-sm bg-raised text-dim">
        <Icon size={15} strokeWidth={1.75} aria-hidden />
      </span>
      <span className="min-w-0 flex-1">
        <span className="block truncate font-medium">{box.title}</span>
        <span className="flex items-center gap-1.5 text-xs text-dim">
          <span className={clsx("truncate", mark && "sr-only")}>
            {aboutOf(box, look?.word)}
            {look && !box.isFolded && <span className="sr-only"> step</span>}
          </span>
          {mark && <State mark={mark} />}
        </span>
      </span>
      {mistakes > 0 && (
        <span title={`${mistakes} to fix`} className="text-bad">
          <TriangleAlert size={14} aria-hidden />
          <span className="sr-only">{mistakes} to fix</span>
        </span>
      )}
      {box.isFolded && <Unfold box={box} />}
      <Handles type={box.step?.type ?? null} isConnectable={isConnectable} />
    </div>
  );
});

function aboutOf(box: Box, word: string | undefined): string {
  if (box.isFolded) return count(stepsIn(box).length - (box.step ? 1 : 0), "step");
  return word ?? "";
}

function Unfold({ box }: { box: Box }) {
  const fold = useFold();
  return (
    <button
      type="button"
      aria-label={`Unfold ${box.title}`}
      onClick={() => fold(box, false)}
      className="nodrag grid size-6 shrink-0 place-items-center rounded-sm text-dim hover:bg-raised hover:text-ink"
    >
      <ChevronsUpDown size={13} aria-hidden />
    </button>
  );
}

const SOURCES: Partial<Record<StepType, readonly [Way, string][]>> = {
  conditional: [
    ["then", "22%"],
    ["after", "50%"],
    ["else", "78%"],
  ],
  approval: [
    ["after", "50%"],
    ["rejected", "80%"],
  ],
};
const PLAIN: readonly [Way, string][] = [["after", "50%"]];

/** The ports of a step: input at the top, outputs at the bottom, errors at the right. */
export function Handles({ type, isConnectable }: { type: StepType | null; isConnectable: boolean }) {
  const sources = (type && SOURCES[type]) ?? PLAIN;
  return (
    <>
      <Handle id="in" type="target" position={Position.Top} isConnectable={isConnectable} />
      {sources.map(([way, left]) => (
        <Handle
          key={way}
          id={way}
          type="source"
          position={Position.Bottom}
          style={{ left }}
          isConnectable={isConnectable}
          data-way={wordOf(way)}
        />
      ))}
      {type && (
        <Handle
          id="error"
          type="source"
          position={Position.Right}
          isConnectable={isConnectable}
          data-way="on error"
        />
      )}
    </>
  );
}
