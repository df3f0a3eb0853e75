import { Fragment, type ReactNode } from "react";
import { type TextBlock, toBlocks } from "./blocks";

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

/** Paragraphs, lists, headings, code and bold: enough for what a gate or a model has to say. */
export function MarkdownLite({ text }: { text: string }) {
  return (
    <div className="space-y-2 break-words">
      {toBlocks(text).map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks of one string never move
        <Block key={index} block={block} />
      ))}
    </div>
  );
}

function Block({ block }: { block: TextBlock }) {
  switch (block.kind) {
    case "code":
      return (
        <pre className="mono rounded-md border border-line bg-bg px-2.5 py-2 break-words whitespace-pre-wrap">
          {block.text}
        </pre>
      );
    case "heading":
      return (
        <p className="pt-1 font-semibold">
          <InlineText text={block.text} />
        </p>
      );
    case "list":
      return <List block={block} />;
    case "paragraph":
      return (
        <p className="whitespace-pre-line">
          <InlineText text={block.text} />
        </p>
      );
  }
}

function List({ block: { isNumbered, from, items } }: { block: TextBlock & { kind: "list" } }) {
  const shown = items.map((item, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: items of one string never move
    <li key={index} className="whitespace-pre-line">
      <InlineText text={item} />
    </li>
  ));
  return isNumbered ? (
    <ol start={from} className="list-decimal space-y-0.5 pl-5 marker:text-dim">
      {shown}
    </ol>
  ) : (
    <ul className="list-disc space-y-0.5 pl-5 marker:text-faint">{shown}</ul>
  );
}
