/** What the list shows of an audit, taken from the output of its run. */
import type { AuditSummary, Run, Verdict } from "@/api/types";
import { partOf } from "@/ui/audit/part";

export type Said = {
  overall: Verdict;
  /** For example "A9 only" for a partial audit. */
  part: string | null;
  blocking: readonly string[];
  findings: number;
};

const BLOCKS: readonly Verdict[] = ["FAIL", "ERROR"];

/** null if the audit is unfinished or ended without a verdict. */
export function saidOf({ status, output }: Run): Said | null {
  if (status !== "completed" || typeof output !== "object" || output === null) return null;
  const summary = output as AuditSummary;
  const { overall, checks, warnings } = summary;
  const all = [...checks, ...warnings];
  return {
    overall,
    part: partOf(summary),
    blocking: all.filter(({ result }) => BLOCKS.includes(result)).map(({ code }) => code),
    findings: all.reduce((sum, { findings }) => sum + findings, 0),
  };
}
