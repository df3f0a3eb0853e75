import { parentsOf, readPlace, readWish } from "@/features/workspaces/place";
import { toBlocks } from "@/ui/blocks";

test("an address says which file, which line, what to look for; what is not that is dropped", () => {
  expect(readPlace({ file: "a/b.py", line: 3, q: "total" })).toEqual({ file: "a/b.py", line: 3, q: "total" });
  expect(readPlace({ file: 7, line: "-1", q: "", other: 1 })).toEqual({ file: "7" });
  expect(readWish({ new: true })).toEqual({ new: true });
  expect(readWish({ new: "no" })).toEqual({});
});

test.each([
  ["app.py", []],
  ["a/b/c.py", ["a", "a/b"]],
])("the directories above %s are %j", (path, parents) => {
  expect(parentsOf(path)).toEqual(parents);
});

test.each([
  ["one\ntwo\n\nthree", ["paragraph:one\ntwo", "paragraph:three"]],
  ["intro:\n- a\n- b", ["paragraph:intro:", "list:a|b"]],
  ["3. c\n4. d", ["list:c|d"]],
  ["```\nopen", ["code:open"]],
  ["````md\n```\nin\n```\n````", ["code:```\nin\n```"]],
  ["# Title #1", ["heading:Title #1"]],
  ["#5 is not a heading, 2.5 not a list", ["paragraph:#5 is not a heading, 2.5 not a list"]],
  ["", []],
])("%j is %j", (text, blocks) => {
  const words = toBlocks(text).map((block) =>
    block.kind === "list" ? `list:${block.items.join("|")}` : `${block.kind}:${block.text}`,
  );
  expect(words).toEqual(blocks);
});
