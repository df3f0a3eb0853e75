import { Fragment, type ReactNode } from "react";

const PIECE = /(`[^`\n]+`|\*\*[^*\n]+\*\*)/;

/** A line of text with `code` and **bold**; everything else is plain text. */
export function InlineText({ text }: { text: string }): ReactNode {
  return text.split(PIECE).map((piece, index) => {
    // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one string never move
    return <Fragment key={index}>{renderPiece(piece)}</Fragment>;
  });
}

function renderPiece(piece: string): ReactNode {
  if (piece.length > 2 && piece.startsWith("`") && piece.endsWith("`")) {
    return <code className="mono rounded-sm bg-ink/7 px-1 py-px break-words">{piece.slice(1, -1)}</code>;
  }
  if (piece.length > 4 && piece.startsWith("**") && piece.endsWith("**")) {
    return <strong className="font-semibold">{piece.slice(2, -2)}</strong>;
  }
  return piece;
}
