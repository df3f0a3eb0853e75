import { missing, reachOf, wishesOf, withAsk } from "@/features/skills/grants/choice";
import { choiceOf, isChanged, isEdited, standingOf } from "@/features/skills/grants/state";
import { fits, isFiltered, readShelf } from "@/features/skills/library/shelf";
import { languageOfFile, treeOf } from "@/features/skills/source/tree";
import { hasUpdates, whereFrom } from "@/features/skills/words";
import { inputOfTest, readInput } from "@/ui/json";
import { ask, card, detail, grant, scope } from "./skillViews";

test("an address of the library says what it can and drops the rest", () => {
  expect(
    readShelf({ q: 42, kind: "script", tier: "royal", state: "review", source: "git", install: true }),
  ).toEqual({
    q: "42",
    kind: "script",
    tier: undefined,
    state: "review",
    capability: undefined,
    source: "git",
    install: true,
  });
  expect(isFiltered(readShelf({}))).toBe(false);
  expect(isFiltered(readShelf({ capability: "kv" }))).toBe(true);
});

test("a skill fits when every word is somewhere in it and all that is chosen is so", () => {
  const skill = card({ categories: ["assistant"], capabilities: ["http_get"], source: { type: "starter" } });
  const searches = ["", "WEAR", "weather assistant", "weather snow"];
  expect(searches.map((q) => fits(skill, { q }))).toEqual([true, true, true, false]);
  expect(fits(skill, { capability: "http_get", kind: "script", source: "starter" })).toBe(true);
  expect(fits(skill, { capability: "kv" })).toBe(false);
  expect(fits(skill, { state: "broken" })).toBe(false);
  expect(fits(skill, { source: "git" })).toBe(false);
});

test("what was granted before an edit does not count, but is where the next review begins", () => {
  const before = grant("http_get", { folder_hash: "then", scope: scope({ hosts: ["a.example"] }) });
  const edited = detail({ asks: [ask("http_get"), ask("kv")], grants: [before], granted: [] });
  expect(isEdited(edited)).toBe(true);
  expect(standingOf(edited, "http_get")).toEqual({ grant: before, counts: false });
  expect(standingOf(edited, "kv")).toEqual({ grant: null, counts: false });
  expect(choiceOf(edited)).toEqual({ http_get: scope({ hosts: ["a.example"] }) });
  expect(isChanged(edited, choiceOf(edited))).toBe(true);
});

test("a choice is a change only when something else would count", () => {
  const skill = detail({
    asks: [ask("kv"), ask("get_secret")],
    grants: [grant("kv"), grant("get_secret")],
    granted: ["get_secret", "kv"],
  });
  expect(isEdited(skill)).toBe(false);
  expect(isChanged(skill, choiceOf(skill))).toBe(false);
  expect(isChanged(skill, withAsk(choiceOf(skill), ask("kv"), false))).toBe(true);
});

test("everything may write to its log, so that is nothing to grant", () => {
  const skill = detail({ asks: [ask("log")], grants: [grant("log")], granted: ["log"] });
  expect(wishesOf(skill.asks, { log: scope() })).toEqual([]);
  expect(isChanged(skill, choiceOf(skill))).toBe(false);
});

test("what is no longer asked for is not granted again", () => {
  expect(choiceOf(detail({ asks: [ask("kv")], grants: [grant("kv"), grant("log")] }))).toEqual({
    kv: scope(),
  });
});

test("allowing something begins with what it asks for, in the order it asks", () => {
  const asks = [ask("http_get", { scope: scope({ hosts: ["a.example"] }) }), ask("kv")];
  const [first, second] = asks;
  const choice = asks.toReversed().reduce((before, one) => withAsk(before, one, true), {});
  expect(wishesOf(asks, choice)).toEqual([
    { capability: "http_get", scope: first?.scope },
    { capability: "kv", scope: second?.scope },
  ]);
  expect(wishesOf(asks, { ...choice, http_get: scope() })).toEqual([{ capability: "kv", scope: scope() }]);
  expect([reachOf("http_get"), reachOf("write_file"), reachOf("get_secret"), reachOf("kv")]).toEqual([
    "hosts",
    "roots",
    "names",
    null,
  ]);
});

test("what it asks for beyond what it has is told, unless it has everything", () => {
  const wide = ask("http_get", { scope: scope({ hosts: ["a.example", "b.example"] }) });
  expect(missing(wide, scope({ hosts: ["a.example"] }), "hosts")).toEqual(["b.example"]);
  expect(missing(wide, scope({ hosts: ["*"] }), "hosts")).toEqual([]);
});

test("the files of a skill are a tree, its SKILL.md first", () => {
  const paths = ["tests/b.json", "a.md", "tests/deep/c.json", "SKILL.md"];
  const root = treeOf(paths.map((path) => ({ path, bytes: 1, is_text: true })));
  expect(root.files.map(({ path }) => path)).toEqual(["SKILL.md", "a.md"]);
  const [tests] = root.branches;
  expect(tests?.files.map(({ path }) => path)).toEqual(["tests/b.json"]);
  expect(tests?.branches.map(({ path }) => path)).toEqual(["tests/deep"]);
  expect(["skill.js", "a/b.test.py", "Makefile"].map(languageOfFile)).toEqual(["js", "py", "Makefile"]);
});

test("an input is an object, and what is wrong with another is said", () => {
  expect(readInput("  ")).toEqual({ input: {}, problem: null });
  expect(readInput('{"city": "Bern"}')).toEqual({ input: { city: "Bern" }, problem: null });
  for (const text of ["[1]", "null", '"Bern"']) expect(readInput(text).problem).toContain("object");
  expect(readInput('{"city":\n Bern}').problem).toBe("Invalid JSON: Unexpected token 'B'.");
  expect(readInput('{"city":\n "Bern"').problem).toMatch(/^Invalid JSON: .+ in line 2\.$/);
  expect(inputOfTest('{"name": "one", "input": {"city": "Bern"}, "expect": {}}')).toBe(
    '{\n  "city": "Bern"\n}',
  );
  expect(inputOfTest("no test")).toBeNull();
});

test("a source says where it is, and whether there can be news", () => {
  const git = {
    type: "git" as const,
    url: "https://x.example/a.git",
    ref: null,
    path: "skills/a",
    commit: "f".repeat(40),
  };
  expect(whereFrom(git)).toBe(`https://x.example/a.git · skills/a @ ${"f".repeat(10)}`);
  expect(whereFrom({ type: "own" })).toBe("made here");
  expect([hasUpdates(git), hasUpdates({ type: "own" })]).toEqual([true, false]);
});
