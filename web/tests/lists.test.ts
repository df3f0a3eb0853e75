import { withGate } from "@/api/gates";
import { allRuns, type RunPages, withChild, withRun } from "@/api/runs";
import type { Run } from "@/api/types";
import { gate, run, time } from "./events";

const one = run({ id: "r1", created_at: time(1) });
const two = run({ id: "r2", created_at: time(2) });
const three = run({ id: "r3", created_at: time(3) });
const pages = (...items: Run[][]): RunPages => ({
  pages: items.map((page) => ({ items: page, nextCursor: null })),
  pageParams: items.map(() => null),
});
const ids = (list: RunPages) => allRuns(list).map(({ id }) => id);

test("a run that changed is replaced where it stands", () => {
  const changed = { ...one, status: "completed" } as const;
  expect(withRun(pages([two], [one]), {}, changed)).toEqual(pages([two], [changed]));
});

test("a new run goes on top", () => {
  expect(ids(withRun(pages([two, one]), {}, three))).toEqual(["r3", "r2", "r1"]);
  expect(ids(withRun(pages([]), {}, three))).toEqual(["r3"]);
});

test("a run that begins to fit goes where its age puts it", () => {
  expect(ids(withRun(pages([three, one]), { statuses: ["running"] }, two))).toEqual(["r3", "r2", "r1"]);
  expect(ids(withRun(pages([three], [one]), {}, two))).toEqual(["r3", "r2", "r1"]);
  expect(ids(withRun(pages([three, two]), {}, one))).toEqual(["r3", "r2", "r1"]);
});

test("one that is older than all that is loaded waits for the page that brings it", () => {
  const list = pages([three, two]);
  const unfinished = { ...list, pages: list.pages.map((page) => ({ ...page, nextCursor: "more" })) };
  expect(ids(withRun(unfinished, {}, one))).toEqual(["r3", "r2"]);
});

test("a run that no longer fits the filter leaves the list", () => {
  const list = pages([two, one]);
  expect(ids(withRun(list, { statuses: ["running"] }, { ...one, status: "failed" }))).toEqual(["r2"]);
});

test("a run that does not fit never enters it", () => {
  expect(ids(withRun(pages([one]), { kind: "audit" }, three))).toEqual(["r1"]);
  expect(ids(withRun(pages([one]), { statuses: ["failed"] }, three))).toEqual(["r1"]);
});

test("open gates are newest first, and settled ones are gone", () => {
  const older = gate({ id: "g1", opened_at: time(1) });
  const newer = gate({ id: "g2", opened_at: time(2) });
  expect(withGate([older], newer)).toEqual([newer, older]);
  expect(withGate([newer, older], { ...newer, status: "answered" })).toEqual([older]);
});

test("a child is added once and then kept current", () => {
  const detail = { run: one, input: {}, steps: [], gates: [], children: [] };
  const started = withChild(detail, two);
  const done = withChild(started, { ...two, status: "completed" });
  expect(done.children).toEqual([{ ...two, status: "completed" }]);
});
