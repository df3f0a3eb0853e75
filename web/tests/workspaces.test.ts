import { parentsOf, readPlace, readWish } from "@/features/workspaces/place";

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
