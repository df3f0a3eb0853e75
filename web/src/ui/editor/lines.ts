/** Line endings and positions in a text. */

/** The line separator that preserves the text when it is split and joined. */
export function lineSeparator(text: string): "\n" | "\r\n" {
  const ends = text.match(/\r?\n/g) ?? [];
  return ends.length > 0 && ends.every((end) => end === "\r\n") ? "\r\n" : "\n";
}

type Line = { from: number; to: number };
type Lines = { lines: number; line: (number: number) => Line };

/** The range of a problem: from its column to the end of the line, clamped to the text. */
export function stretchOf(doc: Lines, line: number | null, column: number | null): Line {
  const { from, to } = doc.line(Math.min(Math.max(line ?? 1, 1), doc.lines));
  return { from: Math.min(from + Math.max((column ?? 1) - 1, 0), to), to };
}
