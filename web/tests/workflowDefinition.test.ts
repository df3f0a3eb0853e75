import { begun, type History, moving } from "@/features/workflows/definition/history";
import { linked, unlinked, wrongLink } from "@/features/workflows/definition/links";
import type { Definition, Step } from "@/features/workflows/definition/model";
import { renamed, spoken, wrongId } from "@/features/workflows/definition/naming";
import {
  folded,
  freeGroup,
  grouped,
  isPlaced,
  moved,
  ungrouped,
  unplaced,
} from "@/features/workflows/definition/places";
import { FINALLY, linksOf, scopesOf, upstreamOf } from "@/features/workflows/definition/scopes";
import { added, duplicated, placed, removed } from "@/features/workflows/definition/steps";

const http = (id: string, more: Partial<Step> = {}): Step => ({
  id,
  type: "http",
  config: { type: "http", url: "https://example.com" },
  ...more,
});

const wait = (id: string, after: string[] = []): Step => ({
  id,
  type: "wait",
  depends_on: after,
  config: { type: "wait", seconds: 1 },
});

const choice = (id: string, yes: string[], no: string[] = []): Step => ({
  id,
  type: "conditional",
  config: { type: "conditional", condition: "true", then_steps: yes, else_steps: no },
});

const loop = (id: string, body: string[], after: string[] = []): Step => ({
  id,
  type: "loop",
  depends_on: after,
  config: { type: "loop", items: "{{ steps.a.output.body }}", body_steps: body },
});

const flow = (...steps: Step[]): Definition => ({ name: "flow", steps });
const stepIn = (definition: Definition, id: string) => definition.steps.find((step) => step.id === id);

test("a new step runs after the one it was added to, in the same loop, under an id nobody has", () => {
  const before = flow(http("http"), loop("each", ["inner"]), wait("inner"));
  const { definition, id } = added(before, "http", { after: "inner" });
  expect(id).toBe("http_2");
  expect(stepIn(definition, id)?.depends_on).toEqual(["inner"]);
  expect(scopesOf(definition).get(id)).toBe("/each");
});

test("a step that goes takes every mention of it along", () => {
  const before: Definition = {
    ...flow(
      choice("ask", ["a", "b"], ["a"]),
      http("a"),
      wait("b", ["a"]),
      http("c", { on_error: { goto: "a" } }),
      loop("each", ["inner", "a2"], ["b"]),
      wait("inner"),
      wait("a2"),
    ),
    finally: ["last", "a"],
  };
  const after = removed(before, ["a", "inner"]);
  expect(after.steps.map(({ id }) => id)).toEqual(["ask", "b", "c", "each", "a2"]);
  expect(stepIn(after, "ask")?.config).toMatchObject({ then_steps: ["b"], else_steps: [] });
  expect(stepIn(after, "b")?.depends_on).toEqual([]);
  expect(stepIn(after, "c")?.on_error).toBe("fail");
  expect(stepIn(after, "each")?.config).toMatchObject({ body_steps: ["a2"] });
  expect(after.finally).toEqual(["last"]);
});

test("steps of a loop that goes are outside of it", () => {
  const after = removed(flow(loop("each", ["inner"]), wait("inner")), ["each"]);
  expect(scopesOf(after).get("inner")).toBe("");
});

test("another id is said everywhere: in lists, templates and conditions, and nowhere else", () => {
  const before: Definition = {
    ...flow(
      http("a"),
      http("b", {
        depends_on: ["a"],
        condition: 'steps.a.output.status == 200 && "steps.a" != x.steps.a && steps.ab.output == 1',
        config: {
          type: "http",
          url: 'https://x/{{ steps["a"].output.body.id }}?steps.a',
          headers: { "X-A": "{{steps.a.output}}" },
          body: { deep: ["{{ steps.a.output.body }}", 3] },
        },
      }),
      { id: "c", type: "code", config: { type: "code", language: "javascript", source: "steps.a" } },
    ),
    outputs: { result: "{{ steps.a.output }}" },
  };
  const after = renamed(before, "a", "first-call");
  expect(after.steps.map(({ id }) => id)).toEqual(["first-call", "b", "c"]);
  expect(stepIn(after, "b")).toMatchObject({
    depends_on: ["first-call"],
    condition: 'steps["first-call"].output.status == 200 && "steps.a" != x.steps.a && steps.ab.output == 1',
    config: {
      url: 'https://x/{{ steps["first-call"].output.body.id }}?steps.a',
      headers: { "X-A": '{{steps["first-call"].output}}' },
      body: { deep: ['{{ steps["first-call"].output.body }}', 3] },
    },
  });
  expect(stepIn(after, "c")?.config).toMatchObject({ source: "steps.a" });
  expect(after.outputs).toEqual({ result: '{{ steps["first-call"].output }}' });
  expect(renamed(after, "first-call", "a")).toMatchObject({ outputs: { result: "{{ steps.a.output }}" } });
  expect(spoken("a_1")).toBe("steps.a_1");
});

test.each([
  ["a", null],
  ["b", "A step with this id already exists."],
  ["1b", "Start with a letter or _"],
  ["a b", "Start with a letter or _"],
])("a step called %s: %s", (id, wanted) => {
  const found = wrongId(flow(http("a"), http("b")), id, "a");
  if (wanted === null) expect(found).toBeNull();
  else expect(found).toContain(wanted);
});

test("links lead from a dependency, a branch, a rejection and an error; a branch says it once", () => {
  const definition = flow(
    choice("ask", ["a"], ["b"]),
    http("a", { depends_on: ["ask"] }),
    http("b", { on_error: { goto: "c" } }),
    wait("c", ["a", "gone"]),
  );
  expect(linksOf(definition)).toEqual([
    { from: "a", to: "c", way: "after" },
    { from: "ask", to: "a", way: "then" },
    { from: "ask", to: "b", way: "else" },
    { from: "b", to: "c", way: "error" },
  ]);
});

test("what cannot be linked says why, and stays as it is", () => {
  const definition = flow(
    wait("a"),
    wait("b", ["a"]),
    wait("c", ["b"]),
    loop("each", ["inner"]),
    wait("inner"),
  );
  expect(wrongLink(definition, { from: "a", to: "a", way: "after" })).toContain("itself");
  expect(wrongLink(definition, { from: "c", to: "a", way: "after" })).toContain("would create a cycle");
  expect(wrongLink(definition, { from: "a", to: "inner", way: "after" })).toContain("same group");
  expect(wrongLink(definition, { from: "a", to: "b", way: "after" })).toContain("already");
  expect(linked(definition, { from: "c", to: "a", way: "after" })).toBe(definition);
});

test("a link comes and goes", () => {
  const before = flow(choice("ask", []), wait("a"));
  const after = linked(before, { from: "ask", to: "a", way: "else" });
  expect(stepIn(after, "ask")?.config).toMatchObject({ else_steps: ["a"] });
  expect(linksOf(unlinked(after, { from: "ask", to: "a", way: "else" }))).toEqual([]);
  const handled = linked(before, { from: "a", to: "ask", way: "error" });
  expect(stepIn(handled, "a")?.on_error).toEqual({ goto: "ask" });
  expect(stepIn(unlinked(handled, { from: "a", to: "ask", way: "error" }), "a")?.on_error).toBe("fail");
});

test("copies are linked among each other as the originals are", () => {
  const before = flow(
    wait("start"),
    loop("each", ["x", "y"], ["start"]),
    http("x", { ui: { position: { x: 10, y: 20 } } }),
    wait("y", ["x"]),
    wait("end", ["each"]),
  );
  const { definition, ids } = duplicated(before, ["each", "x", "y"]);
  expect(ids).toEqual(["each_2", "x_2", "y_2"]);
  expect(stepIn(definition, "each_2")).toMatchObject({
    depends_on: ["start"],
    config: { body_steps: ["x_2", "y_2"] },
  });
  expect(stepIn(definition, "y_2")?.depends_on).toEqual(["x_2"]);
  expect(stepIn(definition, "x_2")?.ui?.position).toEqual({ x: 42, y: 52 });
  const inner = duplicated(before, ["y"]);
  expect(stepIn(inner.definition, "y_2")?.depends_on).toEqual(["x"]);
  expect(scopesOf(inner.definition).get("y_2")).toBe("/each");
});

test("a step that moves to another place leaves the links of the old one behind", () => {
  const before = flow(wait("a"), wait("b", ["a"]), loop("each", ["c"]), wait("c"));
  const after = placed(before, "b", "/each");
  expect(stepIn(after, "b")?.depends_on).toEqual([]);
  expect(stepIn(after, "each")?.config).toMatchObject({ body_steps: ["c", "b"] });
  const last = placed(after, "b", FINALLY);
  expect(last.finally).toEqual(["b"]);
  expect(stepIn(last, "each")?.config).toMatchObject({ body_steps: ["c"] });
});

test("upstream is what is done before, around the loop too, but not the loop itself", () => {
  const definition = flow(
    wait("a"),
    wait("b", ["a"]),
    loop("each", ["x", "y"], ["b"]),
    wait("x"),
    wait("y", ["x"]),
    wait("end", ["each"]),
  );
  expect(upstreamOf(definition, "y").map(({ id }) => id)).toEqual(["x", "b", "a"]);
  expect(upstreamOf(definition, "end").map(({ id }) => id)).toEqual(["each", "b", "a"]);
});

test("places, groups and folds say nothing when they are gone", () => {
  const before = flow(wait("a"), wait("b"));
  const after = moved(before, new Map([["a", { x: 1.4, y: 2.6 }]]));
  expect(stepIn(after, "a")?.ui).toEqual({ position: { x: 1, y: 3 } });
  expect(isPlaced(after)).toBe(true);
  expect(unplaced(after)).toEqual(before);
  const together = grouped(before, ["a", "b"], freeGroup(before));
  expect(freeGroup(together)).toBe("Group 2");
  expect(ungrouped(folded(together, ["a", "b"], true), ["a", "b"])).toEqual(before);
});

const done = <State>(history: History<State>, to: State, about?: string, at = 0) =>
  moving(history, { do: "change", to, about, at });

test("what was done is undone and done again, a hundred times back", () => {
  let history = begun(0);
  for (let number = 1; number <= 120; number += 1) history = done(history, number);
  expect(history.past).toHaveLength(100);
  for (let step = 0; step < 130; step += 1) history = moving(history, { do: "undo" });
  expect(history.present).toBe(20);
  history = moving(history, { do: "redo" });
  expect(history.present).toBe(21);
  expect(done(history, 5).future).toEqual([]);
});

test("typing in one field is one thing that was done; another field or a pause begins a new one", () => {
  let history = done(begun(""), "a", "name", 0);
  history = done(history, "ab", "name", 1000);
  history = done(history, "abc", "prompt", 1100);
  history = done(history, "abcd", "prompt", 9000);
  expect(history.past).toEqual(["", "ab", "abc"]);
});
