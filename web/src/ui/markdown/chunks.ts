/**
 * Splits a text between top-level blocks. Later text can only change the last chunk, so that everything before it is
 * parsed and rendered once.
 */
export type Chunks = {
  chunks: readonly string[];
  /** Link definitions, which every chunk may need. */
  definitions: string;
};

const FENCE = /^\s*(`{3,}(?!.*`)|~{3,})/;
const DEFINITION = /^ {0,3}\[[^\]\s][^\]]*\]:\s*\S/;
const ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/;

export function toChunks(text: string): Chunks {
  const chunks: string[] = [];
  const definitions: string[] = [];
  let chunk: string[] = [];
  let fence: string | null = null;
  let isAfterGap = false;
  for (const line of text.split("\n")) {
    const isBlank = line.trim() === "";
    if (!isBlank && isAfterGap && fence === null && !continues(chunk, line)) {
      chunks.push(chunk.join("\n"));
      chunk = [];
    }
    if (fence === null && DEFINITION.test(line)) definitions.push(line);
    fence = fenceAfter(fence, line);
    isAfterGap = isBlank && fence === null && chunk.length > 0;
    if (!isBlank || chunk.length > 0) chunk.push(line);
  }
  if (chunk.length > 0) chunks.push(chunk.join("\n"));
  return { chunks, definitions: definitions.join("\n") };
}

/** The open fence after a line; null if there is none. */
function fenceAfter(open: string | null, line: string): string | null {
  if (open === null) return FENCE.exec(line)?.[1] ?? null;
  const trimmed = line.trim();
  const isClosing = trimmed.startsWith(open) && [...trimmed].every((character) => character === open[0]);
  return isClosing ? null : open;
}

/** A list may continue after an empty line. */
function continues(chunk: readonly string[], line: string): boolean {
  return /^\s/.test(line) || (ITEM.test(chunk[0] ?? "") && ITEM.test(line));
}
