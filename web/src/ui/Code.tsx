import { clsx } from "clsx";
import { useEffect, useState } from "react";
import { CopyButton } from "./CopyButton";
import type { Line } from "./code/highlight";
import { languageOf } from "./code/languages";
import "./code/code.css";

type Props = {
  text: string;
  /** The language name in the source, or empty. */
  language: string;
  /** More text will follow; it is highlighted once complete. */
  isGrowing?: boolean;
  /** Wrap long lines. */
  isWrapped?: boolean;
};

/** A code block with syntax highlighting and a copy button. */
export function Code({ text, language, isGrowing = false, isWrapped = false }: Props) {
  const lines = useHighlighted(text, language, isGrowing);
  return (
    <figure className="overflow-hidden rounded-md border border-line bg-bg">
      <figcaption className="flex h-7 items-center border-b border-line pr-0.5 pl-2.5 text-xs text-dim pointer-coarse:h-9">
        <span className="mono truncate">{language || "text"}</span>
        <span className="ml-auto">
          <CopyButton text={text} label="Copy code" iconOnly />
        </span>
      </figcaption>
      <pre
        tabIndex={0}
        className={clsx(
          "mono overflow-x-auto px-2.5 py-2 leading-[18px] -outline-offset-2",
          isWrapped && "break-words whitespace-pre-wrap",
        )}
      >
        <code>{lines ? <Colored lines={lines} /> : text}</code>
      </pre>
    </figure>
  );
}

function Colored({ lines }: { lines: readonly Line[] }) {
  return lines.map((line, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a whole block never move
    <span key={at}>
      {line.map(({ offset, content, color }) => (
        <span key={offset} style={{ color }}>
          {content}
        </span>
      ))}
      {at < lines.length - 1 && "\n"}
    </span>
  ));
}

/** Longer code is not highlighted. */
const LONGEST = 50_000;

/** null until highlighted, and for long code or unknown languages. */
function useHighlighted(text: string, language: string, isGrowing: boolean): readonly Line[] | null {
  const [found, setFound] = useState<{ text: string; lines: readonly Line[] } | null>(null);
  const known = languageOf(language);
  useEffect(() => {
    if (isGrowing || known === null || text.length > LONGEST) return;
    let isGone = false;
    import("./code/highlight")
      .then(({ highlight }) => highlight(text, known))
      .then((lines) => isGone || setFound({ text, lines }))
      // Keep the plain text if the highlighter cannot be loaded.
      .catch(() => undefined);
    return () => {
      isGone = true;
    };
  }, [text, known, isGrowing]);
  return found?.text === text ? found.lines : null;
}
