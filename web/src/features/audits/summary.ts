/** What the list says of an audit, from the output of its run: whatever is not there is not shown. */
import type { AuditSummary, Run, Verdict } from "@/api/types";
import { partOf } from "@/ui/audit/part";

export type Said = {
  overall: Verdict;
  /** "A9 only" when it was not the whole audit. */
  part: string | null;
  blocking: readonly string[];
  findings: number;
};

const BLOCKS: readonly Verdict[] = ["FAIL", "ERROR"];

/** null while it goes on, and when it did not come to a verdict. */
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
