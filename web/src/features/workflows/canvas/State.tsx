import { clsx } from "clsx";
import { Dot } from "@/ui/Badge";
import { INK } from "@/ui/tone";
import { STEP_WORD } from "../words";
import type { StepMark } from "./contract";
import { STEP_TONE } from "./steps";

/** The status of a step: a dot, a word and a note. Where space is short, the word is for screen readers only. */
export function State({ mark: { status, note }, isShort = false }: { mark: StepMark; isShort?: boolean }) {
  return (
    <>
      <Dot tone={STEP_TONE[status]} className="size-1.5" />
      <span
        className={clsx(
          isShort ? "sr-only" : "truncate",
          status === "completed" ? "text-dim" : INK[STEP_TONE[status]],
        )}
      >
        {STEP_WORD[status]}
      </span>
      {note && <span className="mono ml-auto truncate text-[11px]">{note}</span>}
    </>
  );
}
