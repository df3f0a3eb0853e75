/** An audit without a finding, in words. Silence is only good news when somebody looked. */
import { count } from "@/ui/count";
import type { RunView } from "../fold";
import type { AuditView } from "./fold";

export const TESTING = "Running the tests…";

/** What goes on before there is a check to be seen. */
export function doing({ run, audit }: { run: RunView; audit: AuditView }): {
  title: string;
  sentence: string;
} {
  if (audit.started) return { title: "Nothing found so far", sentence: "Findings appear as the checks end." };
  const isTesting = run.steps.findLast(({ status }) => status === "running")?.name === "evidence";
  if (isTesting) return { title: TESTING, sentence: "In the sandbox. The checks come after them." };
  return { title: "It is about to begin", sentence: "Findings appear as the checks end." };
}

export function ending({ summary, ended }: AuditView): { title: string; sentence: string } {
  if (summary === null) return { title: "It did not get that far", sentence: "The log says what happened." };
  if (summary.overall !== "PASS")
    return { title: "It failed without a finding", sentence: "Choose a check that failed to see why." };
  const skipped = [...ended.values()].filter(({ result }) => result.result === "SKIP").length;
  const looked = ended.size - skipped;
  if (looked === 0)
    return { title: "Nothing was looked at", sentence: "Each check says why it had nothing to look at." };
  const fine = `${count(looked, "check")} found nothing to complain about`;
  return {
    title: "All is fine",
    sentence: skipped > 0 ? `${fine}; ${count(skipped, "check")} had nothing to look at.` : `${fine}.`,
  };
}
