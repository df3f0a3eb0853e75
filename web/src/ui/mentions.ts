/** Whether every word somebody typed is in one of the texts, wherever and in whichever case. */
export function mentions(texts: readonly string[], words: string): boolean {
  const text = texts.join("\n").toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
