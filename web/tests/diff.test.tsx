import { render, screen } from "@testing-library/react";
import type { DiffRow } from "@/api/types";
import { Diff } from "@/ui/Diff";
import { differing } from "@/ui/differing";
import { lineSeparator, stretchOf } from "@/ui/editor/lines";
import { beWide, diff } from "./bots";

test("lines differ in whole words", () => {
  expect(differing("tone: warm and direct", "tone: cold and quiet")).toEqual({
    before: "tone: ",
    left: "warm and direct",
    right: "cold and quiet",
    after: "",
  });
  expect(differing("a b c", "a c")).toEqual({ before: "a ", left: "b ", right: "", after: "c" });
  expect(differing("", "new")).toEqual({ before: "", left: "", right: "new", after: "" });
  expect(differing("aa", "aaa")).toEqual({ before: "", left: "aa", right: "aaa", after: "" });
});

const rows: DiffRow[] = [
  { kind: "skipped", left: "3", right: "3" },
  { kind: "same", left_line: 4, left: "same", right_line: 4, right: "same" },
  { kind: "changed", left_line: 5, left: "old", right_line: 5, right: "new" },
  { kind: "removed", left_line: 6, left: "gone", right: "" },
  { kind: "added", left: "", right_line: 6, right: "fresh" },
];

const cells = () =>
  screen.getAllByRole("row").map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent));

test("two texts stand side by side where there is room", () => {
  beWide();
  render(<Diff diff={diff({ rows })} />);
  expect(cells()).toEqual([
    ["3 equal lines"],
    ["4", "same", "4", "same"],
    ["5", "−removed: old", "5", "+added: new"],
    ["6", "−removed: gone", "", ""],
    ["", "", "6", "+added: fresh"],
  ]);
});

test("and one below the other where there is not", () => {
  beWide(false);
  render(<Diff diff={diff({ rows, is_cut: true })} />);
  expect(cells()).toEqual([
    ["3 equal lines"],
    ["4", "same"],
    ["5", "−removed: old"],
    ["5", "+added: new"],
    ["6", "−removed: gone"],
    ["6", "+added: fresh"],
  ]);
  expect(screen.getByText("Some lines are not shown.")).toBeInTheDocument();
});

test.each(["", "a\nb\n", "a\r\nb\r\n", "a\nb\r\nc", "a\rb\n", "\n"])(
  "taking %j apart and joining it again changes nothing",
  (text) => {
    const separator = lineSeparator(text);
    expect(text.split(separator).join(separator)).toBe(text);
    if (text.includes("\r\n") && !text.includes("\nb\r")) expect(separator).toBe("\r\n");
  },
);

test("a problem is marked inside of the text, wherever it says it is", () => {
  const starts = [0, 4, 8];
  const doc = {
    lines: 3,
    line: (number: number) => ({ from: starts[number - 1] ?? -1, to: (starts[number - 1] ?? -1) + 3 }),
  };
  expect(stretchOf(doc, 2, 2)).toEqual({ from: 5, to: 7 });
  expect(stretchOf(doc, 2, 99)).toEqual({ from: 7, to: 7 });
  expect(stretchOf(doc, 99, null)).toEqual({ from: 8, to: 11 });
  expect(stretchOf(doc, null, null)).toEqual({ from: 0, to: 3 });
});
