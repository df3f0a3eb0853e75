/** Checks and their findings for tests: short to write, true to the schema. */
import type { CheckResult, Finding } from "@/api/types";

export function finding(number: number, changes: Partial<Finding> = {}): Finding {
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

export function result(code: string, findings: Finding[], changes: Partial<CheckResult> = {}): CheckResult {
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
