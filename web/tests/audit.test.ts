import type { CheckResult, Event, RunDetail } from "@/api/types";
import { saidOf } from "@/features/audits/summary";
import { allowance, BLANK, bodyOf, isReady, recording } from "@/features/audits/wish";
import { sameAudit } from "@/features/runs/audit/again";
import { askedOf } from "@/features/runs/audit/asked";
import { EVERYTHING, findingsOf, firstToSayWhy, fitting, placeOf } from "@/features/runs/audit/filter";
import { foldAudit, NOT_STARTED, rowsOf } from "@/features/runs/audit/fold";
import { doing, ending, TESTING } from "@/features/runs/audit/words";
import { foldRun, NOTHING_YET } from "@/features/runs/fold";
import { withCommands } from "@/ui/audit/commands";
import { partOf } from "@/ui/audit/part";
import { finding, result } from "./audits";
import { event, run } from "./events";

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
  only: [] as string[],
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
    ["Auditing basket: A4, A9, W1.", "idle"],
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
  expect(bodyOf(BLANK)).toEqual({ only: [], evidence: false, ledger: true });
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
    ledger: true,
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
  expect(saidOf(done)).toEqual({
    overall: "FAIL",
    part: null,
    blocking: ["A4"],
    findings: 4,
  });
  expect(saidOf(run({ status: "completed", output: { ...output, only: ["A4"] } }))?.part).toBe("A4 only");
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
    title: "No problems found",
    sentence: "1 check passed; 1 check skipped.",
  });
  expect(end("PASS", skip).title).toBe("Nothing was checked");
  expect(end("FAIL", result("A4", [], { result: "ERROR" })).title).toBe("Failed without findings");
  expect(ending(fold(started)).title).toBe("No verdict");
});

test.each([
  [{}, null],
  [{ only: [] }, null],
  [{ only: ["A9"] }, "A9 only"],
  [{ only: ["A4", "A9"], file: "a.py" }, "A4 A9 in a.py only"],
  [{ only: [], file: "a.py" }, "a.py only"],
  [{ only: ["A1", "A2", "A3", "A4", "A5"] }, "5 checks only"],
])("of %j it is said: %j", (asked, said) => {
  expect(partOf(asked)).toBe(said);
});

test("findings of one file come in the order of its lines, files in the order of the check", () => {
  const at = (path: string, line: number | null) =>
    finding(line ?? 0, { path, line, fingerprint: `${path}${line}` });
  const found = [at("b.py", 9), at("a.py", 3), at("b.py", 2), at("a.py", null), at("b.py", 11)];
  const rows = rowsOf(fold(started, checked(4, result("A4", found))), true);
  expect(findingsOf(rows, null).map(placeOf)).toEqual(["b.py:2", "b.py:9", "b.py:11", "a.py", "a.py:3"]);
});

test("a reason is given once for each check", () => {
  const findings = [
    finding(1),
    finding(2),
    finding(3, { why: "Another." }),
    finding(4),
    finding(5, { check: "A9" }),
  ];
  expect([...firstToSayWhy(findings)].map(({ line }) => line)).toEqual([1, 3, 5]);
});

test.each([
  ["Run the tests: forge audit evidence", "Run the tests: `forge audit evidence`"],
  ["Repair it: forge audit --self-test tells more.", "Repair it: `forge audit --self-test` tells more."],
  [
    "`forge audit verify` or forge audit trust 0123abcdef",
    "`forge audit verify` or `forge audit trust 0123abcdef`",
  ],
  ["Say it: forge audit --only A4,A9, then push.", "Say it: `forge audit --only A4,A9`, then push."],
  ["The forge auditor knows.", "The forge auditor knows."],
])("commands in %j are code", (said, marked) => {
  expect(withCommands(said)).toBe(marked);
});

test("the form says which folders are allowed and what an empty one is", () => {
  expect(allowance({ roots: [], projects: [], start: null })).toContain("FORGE_AUDIT_ROOTS");
  const roots = ["/srv/a", "/srv/b"];
  expect(allowance({ roots, projects: [], start: null })).toBe("A git repository in `/srv/a` or `/srv/b`.");
  expect(allowance({ roots, projects: [], start: "/srv/a" })).toContain("Default: `/srv/a`.");
  expect([isReady(BLANK, false), isReady({ ...BLANK, path: "/srv/a" }, false)]).toEqual([false, true]);
  expect(recording(BLANK)).not.toBe(recording({ ...BLANK, only: "A4" }));
});

test("what was asked for is read from the run's input, whatever is missing in it", () => {
  const detail = (input: Record<string, unknown>): RunDetail => ({
    run: run(),
    input,
    steps: [],
    gates: [],
    children: [],
  });
  const nothing = {
    project: "",
    workspaceId: null,
    path: null,
    phase: null,
    base: null,
    claims: null,
    only: [],
    file: null,
  };
  expect(askedOf(detail({}))).toEqual(nothing);
  const request = {
    phase: "unknown",
    claimed_files: ["a.py", "a.py"],
    base: "main",
    only: ["A4"],
    file: null,
  };
  expect(askedOf(detail({ project: "x", path: "/srv/x", workspace_id: null, request }))).toEqual({
    ...nothing,
    project: "x",
    path: "/srv/x",
    base: "main",
    claims: ["a.py"],
    only: ["A4"],
  });
});

test("before the checks it is said that the tests run", () => {
  const step = event(3, "step.started", { step: 1, name: "evidence", attempt: 1 });
  const testing = foldRun(NOTHING_YET, [step]);
  expect(doing({ run: testing, audit: NOT_STARTED }).title).toBe(TESTING);
  expect(doing({ run: NOTHING_YET, audit: NOT_STARTED }).title).toBe("Starting");
  expect(doing({ run: testing, audit: fold(started) }).title).toBe("No findings yet");
});

test("a ledger that takes no entry is told beside the verdict", () => {
  const recorded = event(7, "audit.recorded", { entry: null, problem: "Somebody changed it." });
  expect(fold(started, recorded).recorded?.problem).toBe("Somebody changed it.");
  expect(foldRun(NOTHING_YET, [recorded]).log.map(({ text, tone }) => [text, tone])).toEqual([
    ["No ledger entry: Somebody changed it.", "wait"],
  ]);
});
