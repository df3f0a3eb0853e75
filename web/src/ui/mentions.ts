/** Whether every word occurs in one of the texts, ignoring case. */
export function mentions(texts: readonly string[], words: string): boolean {
  const text = texts.join("\n").toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
