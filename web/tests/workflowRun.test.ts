import type { Event, WorkflowStep } from "@/api/types";
import { foldRun, NOTHING_YET } from "@/features/workflows/run/fold";
import { costOf, iterationsOf, keyOf, marksOf, siblingsOf } from "@/features/workflows/run/marks";
import { rowsOf } from "@/features/workflows/run/rows";
import { event, gate, time } from "./events";
import { DIGEST, moved, step } from "./workflowViews";

const created = event(1, "run.created", { kind: "workflow", title: "digest", parent_id: null });
const started = event(2, "run.started", { worker: "w1", attempt: 1 });
const problem = { code: "http_status", message: "It said 503.", hint: null, retryable: true };
const fold = (...events: Event[]) => foldRun(NOTHING_YET, events);
const stepsOf = (...steps: WorkflowStep[]) => new Map(steps.map((one) => [one.key, one]));
const FOLDED = { turned: new Set<string>(), selected: null };

test("folding in one batch or one by one gives the same, and changes nothing it was given", () => {
  const events = [
    created,
    started,
    moved(3, "gather", { status: "running", finished_at: null }),
    moved(5, "gather"),
    event(6, "run.completed", { output: { ok: true } }),
  ];
  const before = structuredClone(NOTHING_YET);
  expect(events.reduce((view, one) => foldRun(view, [one]), NOTHING_YET)).toEqual(fold(...events));
  expect(NOTHING_YET).toEqual(before);
});

test("a step's time is work, waiting and work again, each attempt for itself", () => {
  const view = fold(
    created,
    started,
    moved(3, "gather", { status: "running", started_at: time(3), finished_at: null }),
    moved(5, "gather", { status: "retrying", started_at: time(3), finished_at: null, error: problem }),
    moved(9, "gather", { status: "running", attempt: 2, started_at: time(3), finished_at: null }),
    moved(12, "gather", { attempt: 2, started_at: time(3), finished_at: time(12) }),
  );
  expect(view.times.get("gather")).toEqual([
    { is: "work", attempt: 1, from: time(3), to: time(5) },
    { is: "wait", attempt: 1, from: time(5), to: time(9) },
    { is: "work", attempt: 2, from: time(9), to: time(12) },
  ]);
});

test("a step that only says something else goes on doing the same", () => {
  const waits = (seq: number, note: string) =>
    moved(seq, "gather", { status: "waiting", finished_at: null, note });
  expect(fold(waits(3, "for ada"), waits(4, "for ada or bob")).times.get("gather")).toEqual([
    { is: "wait", attempt: 1, from: time(3), to: null },
  ]);
});

test("what was kept, and what was skipped, took no time of this run", () => {
  const view = fold(
    moved(3, "gather", { is_kept: true }),
    moved(4, "tell", { status: "skipped", started_at: null, finished_at: time(4) }),
  );
  expect(view.times.get("gather")).toBeUndefined();
  expect(view.times.get("tell")).toEqual([]);
});

test("whatever is going when a run ends is stopped", () => {
  const view = fold(
    created,
    started,
    moved(3, "gather", { status: "running", finished_at: null }),
    event(7, "run.cancelled", { by: "Robin" }),
  );
  expect(view).toMatchObject({ status: "cancelled", finishedAt: time(7) });
  expect(view.steps.get("gather")).toMatchObject({ status: "cancelled", finished_at: time(7) });
  expect(view.times.get("gather")).toEqual([{ is: "work", attempt: 1, from: time(3), to: time(7) }]);
});

test("a run that waits goes on waiting when another worker takes it up", () => {
  const view = fold(
    created,
    started,
    event(3, "run.waiting", { reason: "gate", until: null }),
    event(4, "gate.opened", { gate: gate() }),
    event(5, "run.started", { worker: "w2", attempt: 2 }),
  );
  expect(view).toMatchObject({ status: "waiting", gates: [gate()], startedAt: time(2) });
});

test("an event of a newer server changes nothing", () => {
  const future = { ...created, seq: 9, type: "workflow.dreamt", data: {} } as unknown as Event;
  expect(fold(created, future)).toEqual(fold(created));
});

test("the log says in words what happened, and what steps wrote line by line", () => {
  const view = fold(
    created,
    moved(3, "gather", { status: "running", attempt: 2 }),
    event(4, "workflow.log", {
      key: "gather",
      lines: [
        { level: "info", text: "one" },
        { level: "error", text: "two" },
      ],
    }),
    moved(5, "gather", { status: "retrying", error: problem, note: "In 2s." }),
    moved(6, "each[0]/fetch", { status: "skipped", note: "Its condition is false." }),
    moved(7, "tell", { is_kept: true }),
    event(8, "run.failed", { error: problem }),
  );
  expect(view.log.map(({ source, text, tone }) => [source, text, tone])).toEqual([
    ["run", "Queued.", "idle"],
    ["gather", "Started (attempt 2).", "run"],
    ["gather", "one", "idle"],
    ["gather", "two", "bad"],
    ["gather", "It said 503. Retrying. In 2s.", "wait"],
    ["each[0]/fetch", "Skipped. Its condition is false.", "idle"],
    ["tell", "Kept from the previous run.", "ok"],
    ["run", "Failed: It said 503.", "bad"],
  ]);
});

const LOOPED = stepsOf(
  step("gather"),
  step("each", { status: "running" }),
  step("each[1]/fetch", { status: "failed" }),
  step("each[0]/inner"),
  step("each[0]/fetch"),
  step("each[0]/inner[0]/deep"),
  step("each[0]/inner[10]/deep"),
  step("each[0]/inner[9]/deep"),
);
const said = (wish: Parameters<typeof rowsOf>[2]) =>
  rowsOf(DIGEST, LOOPED, wish).map(({ id, depth }) => [id, depth]);

test("steps are in the order of the definition; iterations are folded below their loop", () => {
  expect(said(FOLDED)).toEqual([
    ["gather", 0],
    ["each", 0],
    ["each[0]", 1],
    ["each[1]", 1],
    ["tell", 0],
  ]);
  const rows = rowsOf(DIGEST, LOOPED, FOLDED);
  expect(rows[0]).toMatchObject({ title: "Gather", type: "http" });
  expect(rows[1]).toMatchObject({ fold: { isOpen: true, count: 2 } });
  expect(rows[3]).toMatchObject({ status: "failed", index: 1, fold: { isOpen: false, count: 1 } });
  expect(rows[4]).toMatchObject({ step: null, title: "tell" });
});

test("an unfolded iteration shows its steps, and their loops in turn", () => {
  expect(said({ turned: new Set(["each[0]"]), selected: null }).slice(2, 8)).toEqual([
    ["each[0]", 1],
    ["each[0]/fetch", 2],
    ["each[0]/inner", 2],
    ["each[0]/inner[0]", 3],
    ["each[0]/inner[9]", 3],
    ["each[0]/inner[10]", 3],
  ]);
  expect(said({ turned: new Set(["each"]), selected: null })).toHaveLength(3);
});

test("what is looked at is not folded away", () => {
  const rows = said({ turned: new Set(["each"]), selected: "each[0]/inner[9]/deep" });
  expect(rows).toContainEqual(["each[0]/inner[9]/deep", 4]);
});

test("two thousand steps of a loop are a list that is made at once", () => {
  const many = Array.from({ length: 2000 }, (_, at) => step(`each[${at}]/fetch`));
  const begun = performance.now();
  const rows = rowsOf(DIGEST, stepsOf(step("each"), ...many), FOLDED);
  expect(rows).toHaveLength(2000 + 3);
  expect(performance.now() - begun).toBeLessThan(1000);
});

test("on the canvas a step stands for all its iterations", () => {
  expect(marksOf(LOOPED)).toEqual({
    gather: { status: "completed", note: "1.0s" },
    each: { status: "running" },
    fetch: { status: "failed", note: "2 times" },
    inner: { status: "completed", note: "1.0s" },
    deep: { status: "completed", note: "3 times" },
  });
  expect(keyOf(LOOPED, "fetch")).toBe("each[1]/fetch");
  expect(keyOf(LOOPED, "deep")).toBe("each[0]/inner[9]/deep");
  expect(keyOf(LOOPED, "tell")).toBe("tell");
});

test("from a step of a loop there is a way to the same step in other iterations, by their numbers", () => {
  expect(siblingsOf(LOOPED, "each[0]/inner[9]/deep")).toEqual([
    "each[0]/inner[0]/deep",
    "each[0]/inner[9]/deep",
    "each[0]/inner[10]/deep",
  ]);
  expect(siblingsOf(LOOPED, "each[1]/fetch")).toEqual(["each[0]/fetch", "each[1]/fetch"]);
  expect(siblingsOf(LOOPED, "gather")).toEqual([]);
});

test("a loop did what its own steps did, each time; what a loop in it did is of that one", () => {
  const keysOf = (loop: string) =>
    iterationsOf(LOOPED, loop).map(({ number, steps }) => [number, ...steps.map(({ key }) => key)]);
  expect(keysOf("each")).toEqual([
    [0, "each[0]/inner", "each[0]/fetch"],
    [1, "each[1]/fetch"],
  ]);
  expect(keysOf("each[0]/inner").map(([number]) => number)).toEqual([0, 9, 10]);
  expect(keysOf("fetch")).toEqual([]);
});

test("what was kept was paid before", () => {
  expect(
    costOf(stepsOf(step("gather", { cost_micros: 5, is_kept: true }), step("tell", { cost_micros: 7 }))),
  ).toBe(7);
});
