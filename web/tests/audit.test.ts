import type { CheckResult, Event, Finding, RunDetail } from "@/api/types";
import { saidOf } from "@/features/audits/summary";
import { BLANK, bodyOf, isReady } from "@/features/audits/wish";
import { sameAudit } from "@/features/runs/audit/again";
import { EVERYTHING, findingsOf, fitting, placeOf } from "@/features/runs/audit/filter";
import { foldAudit, NOT_STARTED, rowsOf } from "@/features/runs/audit/fold";
import { ending } from "@/features/runs/audit/words";
import { foldRun, NOTHING_YET } from "@/features/runs/fold";
import { event, run } from "./events";

function finding(number: number, changes: Partial<Finding> = {}): Finding {
  return {
    check: "A4",
    rule: "forbidden-import",
    severity: "fail",
    path: `app/part_${number}.py`,
    line: number,
    end_line: null,
    excerpt: "import asyncpg",
    message: "It imports `asyncpg`.",
    why: "Routes know no database.",
    fix: "Ask the service.",
    reproduce: "forge audit --only A4",
    fingerprint: String(number),
    known: null,
    ...changes,
  };
}

function result(code: string, findings: Finding[], changes: Partial<CheckResult> = {}): CheckResult {
  return {
    code,
    name: "Boundary compliance",
    result: findings.length > 0 ? "FAIL" : "PASS",
    detail: "3 imports examined",
    is_blocking: true,
    findings,
    examined: 3,
    unit: "imports",
    duration_ms: 4,
    ...changes,
  };
}

const started = event(3, "audit.started", {
  project: "basket",
  phase: "Phase 1",
  base: null,
  checks: ["A4", "A9", "W1"],
});
const checked = (seq: number, one: CheckResult, total = one.findings.length): Event =>
  event(seq, "audit.check", { result: one, findings_total: total });
const summary = {
  phase: "Phase 1",
  timestamp: "2026-01-02T03:04:05Z",
  overall: "FAIL" as const,
  checks: [],
  warnings: [],
  project: "basket",
  branch: "main",
  head: null,
  base: null,
  tree: "b".repeat(40),
  changed_files: 1,
  duration_ms: 12,
};
const fold = (...events: Event[]) => foldAudit(NOT_STARTED, events);

test("checks stand in their order: ended, running, queued", () => {
  const rows = rowsOf(fold(started, checked(4, result("A4", [finding(1)]))), false);
  expect(rows.map(({ code, state }) => [code, state])).toEqual([
    ["A4", "ended"],
    ["A9", "running"],
    ["W1", "queued"],
  ]);
});

test("what an ended run left undone is not run, not running", () => {
  expect(rowsOf(fold(started), true).map(({ state }) => state)).toEqual(["left", "left", "left"]);
});

test("findings that come in pieces are joined, and those that never come are counted", () => {
  const more = event(5, "audit.findings", { code: "A4", findings: [finding(2), finding(3)] });
  const check = fold(started, checked(4, result("A4", [finding(1)]), 9), more).ended.get("A4");
  expect(check?.findings.map(({ line }) => line)).toEqual([1, 2, 3]);
  expect(check?.total).toBe(9);
});

test("an audit that begins again forgets what it said before", () => {
  const before = [started, checked(4, result("A4", [finding(1)]))];
  expect(fold(...before, started)).toEqual(fold(started));
});

test("folding in one batch or one by one gives the same", () => {
  const finished = event(6, "audit.finished", { summary, claimed_files: null });
  const events = [started, checked(4, result("A4", [finding(1)])), checked(5, result("A9", [])), finished];
  expect(events.reduce((view, one) => foldAudit(view, [one]), NOT_STARTED)).toEqual(fold(...events));
  expect(fold(...events).summary?.overall).toBe("FAIL");
});

test("the run's own fold takes an audit's events for lines of the log", () => {
  const { log, steps } = foldRun(NOTHING_YET, [started, checked(4, result("A4", [finding(1)]))]);
  expect(steps).toEqual([]);
  expect(log.map(({ text, tone }) => [text, tone])).toEqual([
    ["Audits basket: A4, A9, W1.", "idle"],
    ["A4 Boundary compliance: FAIL. 3 imports examined", "bad"],
  ]);
});

const mixed = [
  finding(1),
  finding(2, { severity: "warn", message: "A word that is odd." }),
  finding(3, { severity: "error", path: null, line: null, excerpt: null }),
];

test("findings of all checks come in the order of the checks, those of one alone", () => {
  const view = fold(
    started,
    checked(4, result("W1", [finding(9, { check: "W1" })])),
    checked(5, result("A4", mixed)),
  );
  const rows = rowsOf(view, true);
  expect(findingsOf(rows, null).map(({ line }) => line)).toEqual([1, 2, null, 9]);
  expect(findingsOf(rows, "W1").map(({ line }) => line)).toEqual([9]);
  expect(findingsOf(rows, "A9")).toEqual([]);
});

test.each([
  ["", "", 3],
  ["warn", "", 1],
  ["", "PART_1", 1],
  ["", "asyncpg part", 2],
  ["error", "asyncpg nowhere", 0],
  ["", "part_2.py:2", 1],
] as const)("severity %j and words %j leave %i", (severity, words, count) => {
  expect(fitting(mixed, { ...EVERYTHING, severity, words })).toHaveLength(count);
});

test("a place is a line, a file or the project", () => {
  expect(mixed.map(placeOf)).toEqual(["app/part_1.py:1", "app/part_2.py:2", "the project"]);
  expect(placeOf(finding(1, { line: null }))).toBe("app/part_1.py");
});

test("what is left empty is not asked for", () => {
  expect(bodyOf(BLANK)).toEqual({ only: [], evidence: false, ledger: false });
  expect(isReady(BLANK)).toBe(true);
});

test("claims are lines, checks are words", () => {
  const form = { ...BLANK, claims: "a.py\n\n  b c.py \n", only: "a4, W1  a9", path: " /srv/x ", phase: "P" };
  expect(bodyOf(form)).toEqual({
    path: "/srv/x",
    phase: "P",
    claimed_files: ["a.py", "b c.py"],
    only: ["A4", "W1", "A9"],
    evidence: false,
    ledger: false,
  });
});

test("a workspace has to be chosen, and then no path is sent", () => {
  const form = { ...BLANK, place: "workspace" as const, path: "/srv/x" };
  expect(isReady(form)).toBe(false);
  expect(bodyOf({ ...form, workspaceId: "w1" })).toMatchObject({ workspace_id: "w1" });
  expect(bodyOf({ ...form, workspaceId: "w1" })).not.toHaveProperty("path");
});

test("running again asks for the same", () => {
  const request = { phase: "P", claimed_files: ["a.py"], base: null, only: ["A4"], file: null, ledger: true };
  const input = { project: "x", workspace_id: null, path: "/srv/x", evidence: true, summary: "S", request };
  const detail: RunDetail = { run: run(), input, steps: [], gates: [], children: [] };
  expect(sameAudit(detail)).toEqual({ ...request, path: "/srv/x", evidence: true, summary: "S" });
});

test("the list says the verdict, and which checks are the reason", () => {
  const check = { code: "A4", name: "x", result: "ERROR" as const, detail: "", findings: 2, known: 0 };
  const output = {
    ...summary,
    checks: [check],
    warnings: [{ ...check, code: "W1", result: "WARN" as const }],
  };
  const done = run({ status: "completed", output });
  expect(saidOf(done)).toEqual({ overall: "FAIL", phase: "Phase 1", blocking: ["A4"], findings: 4 });
  expect(saidOf(run({ output: null }))).toBeNull();
});

test("silence is good news only when somebody looked", () => {
  const skip = result("W1", [], { result: "SKIP" });
  const end = (overall: "PASS" | "FAIL", ...results: CheckResult[]) =>
    ending(
      fold(
        started,
        ...results.map((one, index) => checked(4 + index, one)),
        event(9, "audit.finished", { summary: { ...summary, overall }, claimed_files: null }),
      ),
    );
  expect(end("PASS", result("A4", []), skip)).toEqual({
    title: "All is fine",
    sentence: "1 check found nothing to complain about; 1 check had nothing to look at.",
  });
  expect(end("PASS", skip).title).toBe("Nothing was looked at");
  expect(end("FAIL", result("A4", [], { result: "ERROR" })).title).toBe("It failed without a finding");
  expect(ending(fold(started)).title).toBe("It did not get that far");
});
