import type { Event } from "@/api/types";
import { foldRun, NOTHING_YET } from "@/features/runs/fold";
import { event, gate, time } from "./events";

const created = event(1, "run.created", { kind: "self_test", title: "Self-test", parent_id: null });
const started = event(2, "run.started", { worker: "w1", attempt: 1 });
const problem = { code: "unavailable", message: "No answer.", hint: "Try later.", retryable: true };
const fold = (...events: Event[]) => foldRun(NOTHING_YET, events);

test("folding in one batch or one by one gives the same", () => {
  const events = [
    created,
    started,
    event(3, "step.started", { step: 1, name: "fetch", attempt: 1 }),
    event(4, "step.finished", { step: 1, name: "fetch", attempt: 1, outcome: "ok", duration_ms: 1000 }),
    event(5, "run.completed", { output: { ok: true } }),
  ];
  const oneByOne = events.reduce((view, one) => foldRun(view, [one]), NOTHING_YET);
  expect(oneByOne).toEqual(fold(...events));
});

test("a fold changes nothing it was given", () => {
  const before = fold(created, started);
  const copy = structuredClone(before);
  foldRun(before, [event(3, "step.started", { step: 1, name: "fetch", attempt: 1 })]);
  expect(before).toEqual(copy);
});

test("a run starts when the first worker takes it up, not when a second one does", () => {
  const view = fold(created, started, event(9, "run.started", { worker: "w2", attempt: 2 }));
  expect(view.startedAt).toBe(time(2));
});

test("a run that waits goes on waiting when another worker takes it up", () => {
  const waiting = event(3, "run.waiting", { reason: "gate", until: null });
  const again = event(4, "run.started", { worker: "w2", attempt: 2 });
  expect(fold(created, started, waiting, again).status).toBe("waiting");
});

test("a step that is tried again keeps its beginning and, while it goes, its last error", () => {
  const failed = event(4, "step.finished", {
    step: 1,
    name: "fetch",
    attempt: 1,
    outcome: "error",
    duration_ms: 1000,
    error: problem,
    retry_in_s: 2,
  });
  const first = fold(
    created,
    started,
    event(3, "step.started", { step: 1, name: "fetch", attempt: 1 }),
    failed,
  );
  expect(first.steps).toEqual([
    {
      number: 1,
      name: "fetch",
      attempt: 1,
      status: "retrying",
      startedAt: time(3),
      finishedAt: time(4),
      error: problem,
      retryAt: time(6),
    },
  ]);
  const second = foldRun(first, [event(6, "step.started", { step: 1, name: "fetch", attempt: 2 })]);
  expect(second.steps).toMatchObject([
    { attempt: 2, status: "running", startedAt: time(3), finishedAt: null, error: problem },
  ]);
});

test("a step that failed for good is an error", () => {
  const data = {
    step: 1,
    name: "fetch",
    attempt: 3,
    outcome: "error",
    duration_ms: 5,
    error: problem,
  } as const;
  expect(fold(created, event(4, "step.finished", data)).steps).toMatchObject([
    { status: "error", error: problem },
  ]);
});

test("steps side by side are kept apart by their number", () => {
  const view = fold(
    event(3, "step.started", { step: 2, name: "branch 0", attempt: 1 }),
    event(4, "step.started", { step: 3, name: "branch 1", attempt: 1 }),
    event(5, "step.finished", { step: 3, name: "branch 1", attempt: 1, outcome: "ok", duration_ms: 9 }),
  );
  expect(view.steps.map(({ number, status }) => [number, status])).toEqual([
    [2, "running"],
    [3, "ok"],
  ]);
});

test("whatever is going when a run ends is stopped", () => {
  const view = fold(
    created,
    started,
    event(3, "step.started", { step: 1, name: "fetch", attempt: 1 }),
    event(7, "run.cancelled", { by: "Robin" }),
  );
  expect(view).toMatchObject({
    status: "cancelled",
    finishedAt: time(7),
    steps: [{ status: "stopped", finishedAt: time(7) }],
  });
});

test("waiting ends when the run goes on", () => {
  const waiting = fold(created, started, event(3, "run.waiting", { reason: "sleep", until: time(60) }));
  expect(waiting.status).toBe("waiting");
  expect(foldRun(waiting, [event(4, "run.resumed", {})]).status).toBe("running");
});

test("an answer is kept with its gate", () => {
  const answer = { option: "approve", comment: "go", answered_by: "Robin" };
  const view = fold(
    event(3, "gate.opened", { gate: gate() }),
    event(4, "gate.answered", { gate_id: "g1", ...answer }),
  );
  expect(view.gates).toEqual([gate({ status: "answered", answer: { ...answer, answered_at: time(4) } })]);
});

test.each([
  ["gate.expired", "expired"],
  ["gate.closed", "closed"],
] as const)("after %s the gate is %s", (type, status) => {
  const view = fold(event(3, "gate.opened", { gate: gate() }), event(4, type, { gate_id: "g1" }));
  expect(view.gates).toEqual([gate({ status })]);
});

test("a gate that is opened again after a crash is there once", () => {
  const opened = (seq: number) => event(seq, "gate.opened", { gate: gate() });
  expect(fold(opened(3), opened(4)).gates).toHaveLength(1);
});

test("an event of a newer server changes nothing and is in the log", () => {
  const future = { ...created, seq: 9, type: "run.teleported", data: { to: "mars" } } as unknown as Event;
  const view = fold(created, future);
  expect({ ...view, log: [] }).toEqual({ ...fold(created), log: [] });
  expect(view.log.at(-1)?.text).toContain("mars");
});

test("the log says in words what happened", () => {
  const view = fold(
    created,
    started,
    event(3, "run.progress", { done: 1, total: 5, note: "one step" }),
    event(4, "step.finished", {
      step: 1,
      name: "fetch",
      attempt: 2,
      outcome: "error",
      duration_ms: 5,
      error: problem,
      retry_in_s: 1.5,
    }),
    event(5, "gate.answered", { gate_id: "g1", option: "no", comment: "not yet", answered_by: "Robin" }),
    event(6, "run.failed", { error: problem }),
  );
  expect(view.log.map(({ text }) => text)).toEqual([
    "Queued.",
    "Started on w1.",
    "1 of 5: one step",
    "fetch (attempt 2): No answer. Try later. Retrying in 1.5s.",
    "Robin answered: no. “not yet”",
    "Failed: No answer. Try later.",
  ]);
});
