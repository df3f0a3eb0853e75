import { Fragment, type ReactNode } from "react";

const PIECE = /(`[^`\n]+`|\*\*[^*\n]+\*\*)/;

/** One line with `code` and **bold**. Everything else is text: nothing in it can become markup. */
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

/** Paragraphs, `- ` lists, code and bold: enough for what a gate has to say. */
export function MarkdownLite({ text }: { text: string }) {
  const blocks = text.trim().split(/\n\s*\n/);
  return (
    <div className="space-y-2 break-words">
      {blocks.map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks of one string never move
        <Block key={index} lines={block.split("\n")} />
      ))}
    </div>
  );
}

function Block({ lines }: { lines: string[] }) {
  if (lines.every((line) => /^\s*[-*] /.test(line))) {
    return (
      <ul className="list-disc space-y-0.5 pl-5 marker:text-faint">
        {lines.map((line) => (
          <li key={line}>
            <InlineText text={line.replace(/^\s*[-*] /, "")} />
          </li>
        ))}
      </ul>
    );
  }
  return (
    <p className="whitespace-pre-line">
      <InlineText text={lines.join("\n")} />
    </p>
  );
}
