import { compare } from "@/ui/compare";

const NAMES = { left: "before", right: "after" };
const rowsOf = (before: string, after: string) =>
  compare(before, after, NAMES).rows.map(({ kind, left, right }) => [kind, left, right]);

test("equal texts have no differences", () => {
  expect(compare("a\nb\n", "a\nb\n", NAMES)).toEqual({
    ...NAMES,
    added: 0,
    removed: 0,
    rows: [{ kind: "skipped", left: "2", right: "", left_line: null, right_line: null }],
    is_cut: false,
  });
});

test("a changed line is one row", () => {
  expect(compare("tone: dry\n", "tone: warm\n", NAMES)).toMatchObject({
    added: 1,
    removed: 1,
    rows: [{ kind: "changed", left_line: 1, left: "tone: dry", right_line: 1, right: "tone: warm" }],
  });
});

test("added and removed lines are shown at their position", () => {
  expect(rowsOf("a\nb\nc\n", "a\nc\nd\n")).toEqual([
    ["same", "a", "a"],
    ["removed", "b", ""],
    ["same", "c", "c"],
    ["added", "", "d"],
  ]);
});

test("additional lines follow the changed ones", () => {
  expect(rowsOf("a\nx\nz\n", "a\ny\nyy\nz\n")).toEqual([
    ["same", "a", "a"],
    ["changed", "x", "y"],
    ["added", "", "yy"],
    ["same", "z", "z"],
  ]);
});

test("long unchanged stretches are omitted", () => {
  const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`);
  const rows = rowsOf(lines.join("\n"), lines.with(10, "other").join("\n"));
  expect(rows.at(0)).toEqual(["skipped", "7", ""]);
  expect(rows).toHaveLength(9);
  expect(rows.at(-1)).toEqual(["skipped", "6", ""]);
});

test("a new text is added from its first line", () => {
  expect(rowsOf("", "a\n")).toEqual([["added", "", "a"]]);
});

test("very long different texts keep every line", () => {
  const text = (word: string) => Array.from({ length: 5000 }, (_, at) => `${word} ${at}`).join("\n");
  const found = compare(`same\n${text("old")}\nend`, `same\n${text("new")}\nend`, { left: "a", right: "b" });
  expect(found).toMatchObject({ added: 5000, removed: 5000 });
  expect(found.rows.at(0)).toMatchObject({ kind: "same", left: "same" });
  expect(found.rows.at(-1)).toMatchObject({ kind: "same", left_line: 5002, right_line: 5002 });
});
