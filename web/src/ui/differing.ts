/** The differing part of two lines, in whole words. */
export type Differing = { before: string; left: string; right: string; after: string };

const WORDS = /[\p{L}\p{N}_]+|\s+|./gsu;

export function differing(left: string, right: string): Differing {
  const lefts = left.match(WORDS) ?? [];
  const rights = right.match(WORDS) ?? [];
  const most = Math.min(lefts.length, rights.length);
  let start = 0;
  while (start < most && lefts[start] === rights[start]) start++;
  let end = 0;
  while (end < most - start && lefts.at(-1 - end) === rights.at(-1 - end)) end++;
  const between = (words: readonly string[]) => words.slice(start, words.length - end).join("");
  return {
    before: lefts.slice(0, start).join(""),
    left: between(lefts),
    right: between(rights),
    after: lefts.slice(lefts.length - end).join(""),
  };
}
