import type { Run, RunStatus as Status } from "@/api/types";
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

/** The words of outcomes that are not words themselves. */
const OUTCOME_WORD: Record<string, string> = {
  turns: "out of turns",
  tokens: "out of tokens",
  money: "out of money",
  time: "out of time",
  loop: "in a loop",
};

/** Why a run completed without success. */
type Outcome = Run["outcome"];
type Props = { status: Status; outcome?: Outcome | undefined };

/** A run that completed without success is shown by its outcome. */
export const runWord = (status: Status, outcome: Outcome | undefined): string =>
  outcome ? (OUTCOME_WORD[outcome] ?? outcome) : RUN_WORD[status];

const toneOf = ({ status, outcome }: Props): Tone => (outcome ? "wait" : RUN_TONE[status]);

export function RunBadge({ status, outcome }: Props) {
  return <Badge tone={toneOf({ status, outcome })}>{runWord(status, outcome)}</Badge>;
}

/** The status in a list. A success stays quiet: only its dot is colored. */
export function RunState({ status, outcome }: Props) {
  const tone = toneOf({ status, outcome });
  return (
    <span className={`flex items-center gap-2 ${tone === "ok" ? INK.idle : INK[tone]}`}>
      <Dot tone={tone} /> {runWord(status, outcome)}
    </span>
  );
}
