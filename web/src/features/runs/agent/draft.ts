/** An answer while it is being written, assembled from ephemeral events. */
import type { EventOf } from "@/api/types";

type Delta = EventOf<"agent.delta">["data"];

/** Part of a text; `from` and `to` count characters as the server does, an emoji as one. */
export type Stretch = { text: string; from: number; to: number };

/** After `isOver`, the next piece starts a new draft. */
export type Draft = { turn: number; attempt: number; text: Stretch; thinking: Stretch; isOver: boolean };

const NOTHING: Stretch = { text: "", from: 0, to: 0 };

/** Ignore late pieces of an abandoned attempt; a new attempt replaces the draft. */
export function continued(draft: Draft | null, delta: Delta): Draft {
  const { turn, attempt, kind } = delta;
  const isOpen = draft !== null && !draft.isOver;
  if (isOpen && (turn < draft.turn || (turn === draft.turn && attempt < draft.attempt))) return draft;
  const isSame = isOpen && turn === draft.turn && attempt === draft.attempt;
  const before = isSame ? draft : { turn, attempt, text: NOTHING, thinking: NOTHING, isOver: false };
  return { ...before, [kind]: extended(before[kind], delta) };
}

/** After a gap only the end of the text is known; a repeated offset truncates it. */
function extended(stretch: Stretch, { offset, text }: Delta): Stretch {
  const to = offset + [...text].length;
  if (offset === stretch.to) return { text: stretch.text + text, from: stretch.from, to };
  if (offset < stretch.from || offset > stretch.to) return { text, from: offset, to };
  const kept = [...stretch.text].slice(0, offset - stretch.from).join("");
  return { text: kept + text, from: stretch.from, to };
}

export const closed = (draft: Draft | null): Draft | null => draft && { ...draft, isOver: true };

/** Prefixed with an ellipsis if the beginning is missing. */
export const shown = ({ text, from }: Stretch): string => (from > 0 && text ? `… ${text}` : text);
