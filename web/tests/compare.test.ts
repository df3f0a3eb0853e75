import { compare } from "@/ui/compare";

const NAMES = { left: "before", right: "after" };
const rowsOf = (before: string, after: string) =>
  compare(before, after, NAMES).rows.map(({ kind, left, right }) => [kind, left, right]);

test("equal texts have nothing to show", () => {
  expect(compare("a\nb\n", "a\nb\n", NAMES)).toEqual({
    ...NAMES,
    added: 0,
    removed: 0,
    rows: [{ kind: "skipped", left: "2", right: "", left_line: null, right_line: null }],
    is_cut: false,
  });
});

test("a line that is another is one row", () => {
  expect(compare("tone: dry\n", "tone: warm\n", NAMES)).toMatchObject({
    added: 1,
    removed: 1,
    rows: [{ kind: "changed", left_line: 1, left: "tone: dry", right_line: 1, right: "tone: warm" }],
  });
});

test("lines come and go where they stand", () => {
  expect(rowsOf("a\nb\nc\n", "a\nc\nd\n")).toEqual([
    ["same", "a", "a"],
    ["removed", "b", ""],
    ["same", "c", "c"],
    ["added", "", "d"],
  ]);
});

test("more lines than before are added behind those that changed", () => {
  expect(rowsOf("a\nx\nz\n", "a\ny\nyy\nz\n")).toEqual([
    ["same", "a", "a"],
    ["changed", "x", "y"],
    ["added", "", "yy"],
    ["same", "z", "z"],
  ]);
});

test("long stretches that are the same are left out", () => {
  const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`);
  const rows = rowsOf(lines.join("\n"), lines.with(10, "other").join("\n"));
  expect(rows.at(0)).toEqual(["skipped", "7", ""]);
  expect(rows).toHaveLength(9);
  expect(rows.at(-1)).toEqual(["skipped", "6", ""]);
});

test("a text out of nothing is new from its first line on", () => {
  expect(rowsOf("", "a\n")).toEqual([["added", "", "a"]]);
});

test("of very long texts that differ throughout, each line is still there", () => {
  const text = (word: string) => Array.from({ length: 5000 }, (_, at) => `${word} ${at}`).join("\n");
  const found = compare(`same\n${text("old")}\nend`, `same\n${text("new")}\nend`, { left: "a", right: "b" });
  expect(found).toMatchObject({ added: 5000, removed: 5000 });
  expect(found.rows.at(0)).toMatchObject({ kind: "same", left: "same" });
  expect(found.rows.at(-1)).toMatchObject({ kind: "same", left_line: 5002, right_line: 5002 });
});
