/**
 * An answer while it is written. Its words are whispered: pieces can be missing, when somebody comes late or was
 * away. What is missing is written down a moment later, and can be read; until then the pieces behind it are kept.
 */
import type { ChatMessage, EventOf } from "@/api/types";

export type Piece = EventOf<"chat.delta">["data"];
/** Words that came too early: where they begin and end, counted in characters as the server does, emoji as one. */
type Ahead = { text: string; from: number; to: number };

export type Draft = {
  id: string;
  /** Characters of the text so far. */
  length: number;
  ahead: Ahead | null;
  /** The end of what the model thinks, as long as it says nothing. */
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

/** In its place: behind what there is; or again, which changes nothing; or anew, when a model was asked again. */
function spoken(draft: Draft, text: string, { offset, text: added }: Piece, to: number): Grown {
  if (offset === draft.length) return { draft: { ...draft, length: to, thinking: "" }, text: text + added };
  const characters = [...text];
  if (to <= draft.length && characters.slice(offset, to).join("") === added) return { draft, text };
  const before = characters.slice(0, offset).join("");
  return { draft: { ...draft, length: to, ahead: null }, text: before + added };
}

const kept = (ahead: Ahead | null, { offset, text }: Piece, to: number): Ahead =>
  ahead?.to === offset ? { ...ahead, text: ahead.text + text, to } : { text, from: offset, to };

/** What came too early has its place as soon as the text reaches it. */
function joined({ draft, text }: Grown): Grown {
  const { ahead, length } = draft;
  if (ahead === null || ahead.from > length) return { draft, text };
  if (ahead.to <= length) return { draft: { ...draft, ahead: null }, text };
  const rest = [...ahead.text].slice(length - ahead.from).join("");
  return { draft: { ...draft, length: ahead.to, ahead: null }, text: text + rest };
}

/** The same answer was read again: it may have what was missing, or less than what was heard already. */
export function resumed(before: Draft | null, said: string, read: Draft, text: string): Grown {
  if (before === null) return { draft: read, text };
  if (before.length > read.length && said.startsWith(text)) return joined({ draft: before, text: said });
  return joined({ draft: { ...read, ahead: before.ahead, thinking: before.thinking }, text });
}
