/** Two texts, line by line. */
import type { DiffRow, FileDiff } from "@/api/types";

type Names = Pick<FileDiff, "left" | "right">;
/** Equal lines around a change that are shown; longer stretches are left out. */
const AROUND = 3;

export function compare(before: string, after: string, names: Names): FileDiff {
  const rows = paired(linesOf(before), linesOf(after));
  const isOf = (kind: DiffRow["kind"]) =>
    rows.filter((row) => row.kind === kind || row.kind === "changed").length;
  return { ...names, added: isOf("added"), removed: isOf("removed"), rows: folded(rows), is_cut: false };
}

const linesOf = (text: string): string[] => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));

/** Along a longest common subsequence; lines that go and come at the same place are one changed row. */
function paired(left: readonly string[], right: readonly string[]): DiffRow[] {
  const common = lengths(left, right);
  const at = (i: number, j: number): number => common[i * (right.length + 1) + j] ?? 0;
  const rows: DiffRow[] = [];
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    if (i < left.length && j < right.length && left[i] === right[j]) {
      rows.push(row("same", left, i++, right, j++));
      continue;
    }
    const [fromLeft, fromRight] = [i, j];
    while (
      (i < left.length || j < right.length) &&
      (i >= left.length || j >= right.length || left[i] !== right[j])
    ) {
      if (j >= right.length || (i < left.length && at(i + 1, j) >= at(i, j + 1))) i++;
      else j++;
    }
    const both = Math.min(i - fromLeft, j - fromRight);
    for (let one = 0; one < both; one++)
      rows.push(row("changed", left, fromLeft + one, right, fromRight + one));
    for (let one = fromLeft + both; one < i; one++) rows.push(row("removed", left, one, right, null));
    for (let one = fromRight + both; one < j; one++) rows.push(row("added", left, null, right, one));
  }
  return rows;
}

/** How many lines the rests from i and from j have in common, row by row. */
function lengths(left: readonly string[], right: readonly string[]): Uint32Array {
  const width = right.length + 1;
  const table = new Uint32Array((left.length + 1) * width);
  const at = (index: number): number => table[index] ?? 0;
  for (let i = left.length - 1; i >= 0; i--) {
    for (let j = right.length - 1; j >= 0; j--) {
      const here = i * width + j;
      table[here] =
        left[i] === right[j] ? at(here + width + 1) + 1 : Math.max(at(here + width), at(here + 1));
    }
  }
  return table;
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
