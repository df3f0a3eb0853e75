/** Line ends, and places in a text by line and column. */

/** What parts the lines of a text, such that taking it apart and joining it again changes nothing. */
export function lineSeparator(text: string): "\n" | "\r\n" {
  const ends = text.match(/\r?\n/g) ?? [];
  return ends.length > 0 && ends.every((end) => end === "\r\n") ? "\r\n" : "\n";
}

type Line = { from: number; to: number };
type Lines = { lines: number; line: (number: number) => Line };

/** The stretch a problem is about: from its column to the end of its line, within the text in any case. */
export function stretchOf(doc: Lines, line: number | null, column: number | null): Line {
  const { from, to } = doc.line(Math.min(Math.max(line ?? 1, 1), doc.lines));
  return { from: Math.min(from + Math.max((column ?? 1) - 1, 0), to), to };
}
