/** Texts for an audit without findings, which is good news only if something was checked. */
import { count } from "@/ui/count";
import type { RunView } from "../fold";
import type { AuditView } from "./fold";

export const TESTING = "Running tests…";

/** The status before the first check finishes. */
export function doing({ run, audit }: { run: RunView; audit: AuditView }): {
  title: string;
  sentence: string;
} {
  if (audit.started) return { title: "No findings yet", sentence: "Findings appear as checks finish." };
  const isTesting = run.steps.findLast(({ status }) => status === "running")?.name === "evidence";
  if (isTesting) return { title: TESTING, sentence: "In the sandbox. The checks follow." };
  return { title: "Starting", sentence: "Findings appear as checks finish." };
}

export function ending({ summary, ended }: AuditView): { title: string; sentence: string } {
  if (summary === null) return { title: "No verdict", sentence: "See the log for details." };
  if (summary.overall !== "PASS")
    return { title: "Failed without findings", sentence: "Choose a check that failed to see why." };
  const skipped = [...ended.values()].filter(({ result }) => result.result === "SKIP").length;
  const looked = ended.size - skipped;
  if (looked === 0) return { title: "Nothing was checked", sentence: "Each check says why it was skipped." };
  const fine = `${count(looked, "check")} passed`;
  return {
    title: "No problems found",
    sentence: skipped > 0 ? `${fine}; ${count(skipped, "check")} skipped.` : `${fine}.`,
  };
}
