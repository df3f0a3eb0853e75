import type { RunStatus as Status } from "@/api/types";
import { Badge, Dot } from "../Badge";
import { INK, type Tone } from "../tone";

export const RUN_TONE: Record<Status, Tone> = {
  pending: "idle",
  running: "run",
  waiting: "wait",
  completed: "ok",
  failed: "bad",
  cancelled: "idle",
};

/** Labels shown to the user. */
export const RUN_WORD: Record<Status, string> = {
  pending: "queued",
  running: "running",
  waiting: "waiting",
  completed: "completed",
  failed: "failed",
  cancelled: "cancelled",
};

export function RunBadge({ status }: { status: Status }) {
  return <Badge tone={RUN_TONE[status]}>{RUN_WORD[status]}</Badge>;
}

/** The status in a list. A success stays quiet: only its dot is colored. */
export function RunState({ status }: { status: Status }) {
  const ink = status === "completed" ? INK.idle : INK[RUN_TONE[status]];
  return (
    <span className={`flex items-center gap-2 ${ink}`}>
      <Dot tone={RUN_TONE[status]} /> {RUN_WORD[status]}
    </span>
  );
}
