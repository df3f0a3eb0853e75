/** Filters and orders findings. */
import type { Finding, Severity } from "@/api/types";
import type { CheckRow } from "./fold";

export type Filter = { check: string | null; severity: Severity | ""; words: string };

export const EVERYTHING: Filter = { check: null, severity: "", words: "" };

/** The findings of one or all checks, in the order of the checks; within a file, by line. */
export function findingsOf(rows: readonly CheckRow[], check: string | null): readonly Finding[] {
  return rows.flatMap((row) =>
    row.state === "ended" && (check === null || check === row.code) ? inOrder(row.check.findings) : [],
  );
}

/** Keep the order in which the check first named the files, which is worst first. */
function inOrder(findings: readonly Finding[]): readonly Finding[] {
  const files = new Map<string | null, Finding[]>();
  for (const finding of findings) {
    const known = files.get(finding.path);
    if (known) known.push(finding);
    else files.set(finding.path, [finding]);
  }
  return [...files.values()].flatMap((ofFile) => ofFile.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)));
}

/** The first finding of each check with a given reason, so that the reason is shown only once. */
export function firstToSayWhy(findings: readonly Finding[]): ReadonlySet<Finding> {
  const firsts = new Map<string, Finding>();
  for (const finding of findings) {
    const reason = `${finding.check} ${finding.why}`;
    if (!firsts.has(reason)) firsts.set(reason, finding);
  }
  return new Set(firsts.values());
}

/** Findings with this severity that contain all of the words. */
export function fitting(findings: readonly Finding[], { severity, words }: Filter): readonly Finding[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (!severity && wanted.length === 0) return findings;
  return findings.filter((finding) => {
    if (severity && finding.severity !== severity) return false;
    const text = textOf(finding);
    return wanted.every((word) => text.includes(word));
  });
}

const textOf = ({ check, rule, path, line, message, fix, excerpt }: Finding): string =>
  `${check} ${rule} ${path ?? ""}:${line ?? ""} ${message} ${fix} ${excerpt ?? ""}`.toLowerCase();

/** `app/main.py:12`, or "the project" if there is no file. */
export const placeOf = ({ path, line }: Finding): string =>
  path === null ? "the project" : line === null ? path : `${path}:${line}`;
