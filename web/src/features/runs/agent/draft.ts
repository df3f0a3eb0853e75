/** An answer while it is written, put together from what is whispered. */
import type { EventOf } from "@/api/types";

type Delta = EventOf<"agent.delta">["data"];

/** A stretch of a text: `from` and `to` count its characters as the server does, emoji as one. */
export type Stretch = { text: string; from: number; to: number };

/** When it `isOver`, the next piece begins a new one. */
export type Draft = { turn: number; attempt: number; text: Stretch; thinking: Stretch; isOver: boolean };

const NOTHING: Stretch = { text: "", from: 0, to: 0 };

/** A late piece, of an attempt that was given up, says nothing new; a new attempt replaces what there was. */
export function continued(draft: Draft | null, delta: Delta): Draft {
  const { turn, attempt, kind } = delta;
  const isOpen = draft !== null && !draft.isOver;
  if (isOpen && (turn < draft.turn || (turn === draft.turn && attempt < draft.attempt))) return draft;
  const isSame = isOpen && turn === draft.turn && attempt === draft.attempt;
  const before = isSame ? draft : { turn, attempt, text: NOTHING, thinking: NOTHING, isOver: false };
  return { ...before, [kind]: extended(before[kind], delta) };
}

/** Who comes late, or misses a piece, holds the end of the text only; one that starts again is cut back. */
function extended(stretch: Stretch, { offset, text }: Delta): Stretch {
  const to = offset + [...text].length;
  if (offset === stretch.to) return { text: stretch.text + text, from: stretch.from, to };
  if (offset < stretch.from || offset > stretch.to) return { text, from: offset, to };
  const kept = [...stretch.text].slice(0, offset - stretch.from).join("");
  return { text: kept + text, from: stretch.from, to };
}

export const closed = (draft: Draft | null): Draft | null => draft && { ...draft, isOver: true };

/** With a sign that its beginning is missing, if it is. */
export const shown = ({ text, from }: Stretch): string => (from > 0 && text ? `… ${text}` : text);
