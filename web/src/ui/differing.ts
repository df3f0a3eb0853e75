/** Where two lines differ: what they begin with, what they end with, and what is between. */
export type Differing = { before: string; left: string; right: string; after: string };

export function differing(left: string, right: string): Differing {
  const most = Math.min(left.length, right.length);
  let start = 0;
  while (start < most && left[start] === right[start]) start++;
  let end = 0;
  while (end < most - start && left.at(-1 - end) === right.at(-1 - end)) end++;
  return {
    before: left.slice(0, start),
    left: left.slice(start, left.length - end),
    right: right.slice(start, right.length - end),
    after: left.slice(left.length - end),
  };
}
