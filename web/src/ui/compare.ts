/** A line diff. */
import type { DiffRow, FileDiff } from "@/api/types";

type Names = Pick<FileDiff, "left" | "right">;
/** The number of equal lines shown around a change. */
const AROUND = 3;

export function compare(before: string, after: string, names: Names): FileDiff {
  const rows = paired(linesOf(before), linesOf(after));
  const isOf = (kind: DiffRow["kind"]) =>
    rows.filter((row) => row.kind === kind || row.kind === "changed").length;
  return { ...names, added: isOf("added"), removed: isOf("removed"), rows: folded(rows), is_cut: false };
}

const linesOf = (text: string): string[] => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));

/** Strip the common prefix and suffix, and align the rest by a longest common subsequence. */
function paired(left: readonly string[], right: readonly string[]): DiffRow[] {
  const most = Math.min(left.length, right.length);
  let start = 0;
  while (start < most && left[start] === right[start]) start++;
  let end = 0;
  while (end < most - start && left.at(-1 - end) === right.at(-1 - end)) end++;
  const rows: DiffRow[] = [];
  for (let one = 0; one < start; one++) rows.push(row("same", left, one, right, one));
  align(rows, left, right, { start, left: left.length - end, right: right.length - end });
  for (let one = end; one > 0; one--) {
    rows.push(row("same", left, left.length - one, right, right.length - one));
  }
  return rows;
}

/** From line `start` of both texts up to these lines. */
type Stretch = { start: number; left: number; right: number };

/** Lines removed and added at the same place form a changed row. */
function align(rows: DiffRow[], left: readonly string[], right: readonly string[], part: Stretch): void {
  const at = commonFrom(left, right, part);
  let [i, j] = [part.start, part.start];
  while (i < part.left || j < part.right) {
    if (i < part.left && j < part.right && left[i] === right[j]) {
      rows.push(row("same", left, i++, right, j++));
      continue;
    }
    const [fromLeft, fromRight] = [i, j];
    while ((i < part.left || j < part.right) && (i >= part.left || j >= part.right || left[i] !== right[j])) {
      if (j >= part.right || (i < part.left && at(i + 1, j) >= at(i, j + 1))) i++;
      else j++;
    }
    const both = Math.min(i - fromLeft, j - fromRight);
    for (let one = 0; one < both; one++)
      rows.push(row("changed", left, fromLeft + one, right, fromRight + one));
    for (let one = fromLeft + both; one < i; one++) rows.push(row("removed", left, one, right, null));
    for (let one = fromRight + both; one < j; one++) rows.push(row("added", left, null, right, one));
  }
}

/** Larger texts are compared without a longest common subsequence. */
const MAX_CELLS = 16_000_000;

/** Returns the length of the longest common subsequence from i and j. */
function commonFrom(left: readonly string[], right: readonly string[], { start, ...part }: Stretch) {
  const [height, width] = [part.left - start + 1, part.right - start + 1];
  if (height * width > MAX_CELLS) return () => 0;
  const table = new Uint32Array(height * width);
  const at = (index: number): number => table[index] ?? 0;
  for (let i = height - 2; i >= 0; i--) {
    for (let j = width - 2; j >= 0; j--) {
      const here = i * width + j;
      const isSame = left[start + i] === right[start + j];
      table[here] = isSame ? at(here + width + 1) + 1 : Math.max(at(here + width), at(here + 1));
    }
  }
  return (i: number, j: number): number => at((i - start) * width + (j - start));
}

function row(
  kind: DiffRow["kind"],
  left: readonly string[],
  i: number | null,
  right: readonly string[],
  j: number | null,
): DiffRow {
  return {
    kind,
    left_line: i === null ? null : i + 1,
    left: i === null ? "" : (left[i] ?? ""),
    right_line: j === null ? null : j + 1,
    right: j === null ? "" : (right[j] ?? ""),
  };
}

function folded(rows: readonly DiffRow[]): DiffRow[] {
  const isNear = rows.map((_, at) =>
    rows.slice(Math.max(0, at - AROUND), at + AROUND + 1).some(({ kind }) => kind !== "same"),
  );
  const shown: DiffRow[] = [];
  let skipped = 0;
  const close = () => {
    if (skipped > 0)
      shown.push({ kind: "skipped", left: String(skipped), right: "", left_line: null, right_line: null });
    skipped = 0;
  };
  rows.forEach((one, at) => {
    if (!isNear[at]) {
      skipped++;
      return;
    }
    close();
    shown.push(one);
  });
  close();
  return shown;
}
