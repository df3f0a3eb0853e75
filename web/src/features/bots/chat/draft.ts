/**
 * An answer while it is being written. Its text arrives in ephemeral pieces, some of which can be missing after a
 * reconnect. Missing text is soon stored by the server and can be read; until then the later pieces are kept.
 */
import type { ChatMessage, EventOf } from "@/api/types";

export type Piece = EventOf<"chat.delta">["data"];
/** Text behind a gap. Positions count characters as the server does, an emoji as one. */
type Ahead = { text: string; from: number; to: number };

export type Draft = {
  id: string;
  /** Length of the text so far, in characters. */
  length: number;
  ahead: Ahead | null;
  /** The end of the model's reasoning, until the first text arrives. */
  thinking: string;
};
type Grown = { draft: Draft; text: string };

const KEPT_THOUGHT = 600;

export const countOf = (text: string): number => [...text].length;

export const begun = ({ id, text }: Pick<ChatMessage, "id" | "text">): Draft => ({
  id,
  length: countOf(text),
  ahead: null,
  thinking: "",
});

export function heard(draft: Draft, text: string, piece: Piece): Grown {
  if (piece.kind === "thinking") {
    const before = piece.offset === 0 ? "" : draft.thinking;
    return { draft: { ...draft, thinking: (before + piece.text).slice(-KEPT_THOUGHT) }, text };
  }
  const to = piece.offset + countOf(piece.text);
  if (piece.offset > draft.length) return { draft: { ...draft, ahead: kept(draft.ahead, piece, to) }, text };
  return joined(spoken(draft, text, piece, to));
}

/** Apply a piece at its offset: append it, ignore a duplicate, or truncate the text if the model was called again. */
function spoken(draft: Draft, text: string, { offset, text: added }: Piece, to: number): Grown {
  if (offset === draft.length) return { draft: { ...draft, length: to, thinking: "" }, text: text + added };
  const characters = [...text];
  if (to <= draft.length && characters.slice(offset, to).join("") === added) return { draft, text };
  const before = characters.slice(0, offset).join("");
  return { draft: { ...draft, length: to, ahead: null }, text: before + added };
}

const kept = (ahead: Ahead | null, { offset, text }: Piece, to: number): Ahead =>
  ahead?.to === offset ? { ...ahead, text: ahead.text + text, to } : { text, from: offset, to };

/** Append the pending text once the gap before it is filled. */
function joined({ draft, text }: Grown): Grown {
  const { ahead, length } = draft;
  if (ahead === null || ahead.from > length) return { draft, text };
  if (ahead.to <= length) return { draft: { ...draft, ahead: null }, text };
  const rest = [...ahead.text].slice(length - ahead.from).join("");
  return { draft: { ...draft, length: ahead.to, ahead: null }, text: text + rest };
}

/** Merge a stored answer: it may fill a gap, or be shorter than what was already received. */
export function resumed(before: Draft | null, said: string, read: Draft, text: string): Grown {
  if (before === null) return { draft: read, text };
  if (before.length > read.length && said.startsWith(text)) return joined({ draft: before, text: said });
  return joined({ draft: { ...read, ahead: before.ahead, thinking: before.thinking }, text });
}
