import { memo, useDeferredValue, useMemo } from "react";
import { toChunks } from "./chunks";
import { Nodes } from "./Nodes";
import { parse } from "./parse";

/** A Markdown text. While it grows, only its last chunk is parsed again. */
export function Rendered({ text, isGrowing }: { text: string; isGrowing: boolean }) {
  const shown = useDeferredValue(text);
  const { chunks, definitions } = useMemo(() => toChunks(shown), [shown]);
  return (
    <div className="space-y-2.5 break-words">
      {chunks.map((chunk, index) => (
        <Chunk
          // biome-ignore lint/suspicious/noArrayIndexKey: chunks of a text that grows never move
          key={index}
          text={chunk}
          definitions={definitions}
          isGrowing={isGrowing && index === chunks.length - 1}
        />
      ))}
    </div>
  );
}

const Chunk = memo(function Chunk({
  text,
  definitions,
  isGrowing,
}: {
  text: string;
  definitions: string;
  isGrowing: boolean;
}) {
  const nodes = useMemo(() => parse(text, definitions), [text, definitions]);
  return <Nodes nodes={nodes} isGrowing={isGrowing} />;
});
