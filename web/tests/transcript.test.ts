import type { Event } from "@/api/types";
import { activityOf } from "@/features/runs/agent/activity";
import { shown } from "@/features/runs/agent/draft";
import { foldAgent, SILENT, type TurnPiece } from "@/features/runs/agent/fold";
import { foldRun, NOTHING_YET } from "@/features/runs/fold";
import {
  asked,
  began,
  created,
  delta,
  ended,
  stepFailed,
  stepStarted,
  taken,
  tool,
  turn,
} from "./agentEvents";
import { event, gate, time } from "./events";

const fold = (...events: Event[]) => foldAgent(SILENT, events);
const toolsOf = (view = SILENT) => view.pieces.filter((piece): piece is TurnPiece => piece.kind === "turn");
const draftOf = ({ draft }: typeof SILENT) =>
  draft && { text: shown(draft.text), thought: shown(draft.thinking) };

const STORY = [
  created,
  taken,
  began,
  turn(4, 1, {
    tools: [asked("a", "read_file", { path: "app.py" }), asked("b", "run_tests")],
    stop: "tools",
  }),
  tool(5, 1, "a"),
  tool(6, 1, "b", { name: "run_tests", is_error: true, detail: { passed: 1, failed: 2 } }),
  event(7, "agent.compacted", {
    turn: 2,
    tokens_before: 90_000,
    tokens_after: 30_000,
    results_shortened: 3,
    messages_dropped: 0,
  }),
  event(8, "agent.heard", { turn: 2, messages: [{ id: "m1", text: "Hurry.", sent_by: "Ada" }] }),
  turn(9, 2),
  ended(10),
];

test("the story is told in order, each result with its call", () => {
  const view = fold(...STORY);
  expect(view.pieces.map(({ kind }) => kind)).toEqual([
    "started",
    "turn",
    "compacted",
    "heard",
    "turn",
    "ended",
  ]);
  expect(toolsOf(view)[0]?.tools.map(({ id, used }) => [id, used?.is_error])).toEqual([
    ["a", false],
    ["b", true],
  ]);
  expect(view).toMatchObject({ turn: 2, costMicros: 10_000, hasEnded: true, model: "scripted:coder" });
  expect(view.usage).toEqual({ input: 20, output: 40, cache_read: 600, cache_write: 8000 });
  expect([...view.heard]).toEqual(["m1"]);
});

test("folding in one batch or one by one gives the same", () => {
  const oneByOne = STORY.reduce((view, one) => foldAgent(view, [one]), SILENT);
  expect(oneByOne).toEqual(fold(...STORY));
});

test("a fold changes nothing it was given, and what did not change stays the same object", () => {
  const before = fold(...STORY.slice(0, 5));
  const copy = structuredClone(before);
  const after = foldAgent(before, [...STORY.slice(5), delta(9, "late")]);
  expect(before).toEqual(copy);
  expect(after.pieces[0]).toBe(before.pieces[0]);
});

test("5,000 events are folded in one go, and the next one touches one piece only", () => {
  const many = Array.from({ length: 2500 }, (_, index) => [
    turn(10 + index * 2, index + 1, { tools: [asked(`c${index}`, "read_file")], stop: "tools" }),
    tool(11 + index * 2, index + 1, `c${index}`),
  ]).flat();
  const before = fold(...many);
  const after = foldAgent(before, [turn(9999, 2501)]);
  expect(after.pieces).toHaveLength(2501);
  expect(after.pieces.filter((piece, index) => piece !== before.pieces[index])).toHaveLength(1);
});

test("words appear as they are written and make room for the turn itself", () => {
  const writing = fold(delta(1, "Let me"), delta(1, " look.", { offset: 6 }));
  expect(draftOf(writing)).toEqual({ text: "Let me look.", thought: "" });
  expect(foldAgent(writing, [turn(4, 1)]).draft).toBeNull();
});

test("a new attempt replaces what was written so far, and a late piece of the old one changes nothing", () => {
  const again = fold(
    delta(1, "Let me"),
    delta(1, "I will", { attempt: 2 }),
    delta(1, " look.", { offset: 6 }),
  );
  expect(draftOf(again)).toEqual({ text: "I will", thought: "" });
});

test("a text that begins again, as with another model, is cut back", () => {
  const again = fold(delta(1, "Let me look."), delta(1, "I will", { offset: 0 }));
  expect(draftOf(again)).toEqual({ text: "I will", thought: "" });
});

test("who comes late sees that the beginning is missing", () => {
  expect(draftOf(fold(delta(1, "look.", { offset: 7 })))).toEqual({ text: "… look.", thought: "" });
});

test("an emoji counts as one character, as it does on the server", () => {
  const view = fold(delta(1, "👍🏽"), delta(1, " good", { offset: 2 }));
  expect(draftOf(view)).toEqual({ text: "👍🏽 good", thought: "" });
});

test("what another worker writes after a restart begins anew", () => {
  const again = fold(
    delta(1, "Let me"),
    event(5, "run.started", { worker: "w2", attempt: 2 }),
    delta(1, "So."),
  );
  expect(draftOf(again)).toEqual({ text: "So.", thought: "" });
});

test("a whisper about a turn that is told already says nothing", () => {
  expect(fold(turn(4, 1), delta(1, "Let me")).draft).toBeNull();
});

test("files that were changed are counted, those that were only read are not", () => {
  const change = (seq: number, id: string, path: string, changed: boolean) =>
    tool(seq, 1, id, { name: "write_file", detail: { path, changed } });
  const tools = ["a", "b", "c", "d"].map((id) => asked(id, "write_file"));
  const view = fold(
    turn(4, 1, { tools }),
    change(5, "a", "app.py", true),
    change(6, "b", "app.py", true),
    change(7, "c", "same.py", false),
    tool(8, 1, "d", { detail: { path: "read.py" } }),
  );
  expect([...view.changed]).toEqual([["app.py", 2]]);
});

test("an answer is kept with its question", () => {
  const answer = { gate_id: "g1", option: "approve", comment: "", answered_by: "Ada" };
  const view = fold(event(4, "gate.opened", { gate: gate() }), event(5, "gate.answered", answer));
  expect(view.pieces).toMatchObject([{ kind: "gate", answer }]);
});

describe("what it is doing is always said", () => {
  const doing = (...events: Event[]) => activityOf(foldRun(NOTHING_YET, events), fold(...events));
  const running = [created, taken, began];
  const tests = turn(5, 1, { tools: [asked("a", "run_tests", { command: "pytest -q" })], stop: "tools" });

  test.each([
    ["Queued, waiting for a worker", null, [created]],
    ["Preparing", null, [created, taken]],
    ["Waiting for the model", time(4), [...running, stepStarted(4, 2, "model 1")]],
    ["Thinking", time(4), [...running, stepStarted(4, 2, "model 1"), delta(1, "Hm", { kind: "thinking" })]],
    ["Writing", time(4), [...running, stepStarted(4, 2, "model 1"), delta(1, "Let me")]],
    ["Retrying the model", null, [...running, stepFailed(4, 2, "model 1", "No.")]],
    ["Waiting for the model, attempt 2", time(6), [...running, stepStarted(6, 2, "model 1", 2)]],
    ["Running pytest -q", time(6), [...running, tests, stepStarted(6, 3, "run_tests")]],
    ["Waiting for your answer", null, [...running, event(4, "gate.opened", { gate: gate() })]],
    ["Continuing", null, running],
  ])("%s", (text, since, events) => {
    expect(doing(...events)).toMatchObject({ text, since });
  });

  test("a model that did not answer is asked again at a known time", () => {
    const failed = stepFailed(4, 2, "model 1", "The model server is still loading the model.");
    expect(doing(...running, failed)).toMatchObject({
      until: time(6),
      hint: "The model server is still loading the model.",
    });
  });

  test("nothing, once it has ended", () => {
    expect(doing(...running, event(9, "run.completed", { output: null }))).toBeNull();
  });
});
