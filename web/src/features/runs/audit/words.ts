/** An audit without a finding, in words. Silence is only good news when somebody looked. */
import type { AuditView } from "./fold";

export function ending({ summary, ended }: AuditView): { title: string; sentence: string } {
  if (summary === null) return { title: "It did not get that far", sentence: "The log says what happened." };
  if (summary.overall !== "PASS")
    return { title: "It failed without a finding", sentence: "Choose a check that failed to see why." };
  const skipped = [...ended.values()].filter(({ result }) => result.result === "SKIP").length;
  const looked = ended.size - skipped;
  if (looked === 0)
    return { title: "Nothing was looked at", sentence: "Each check says why it had nothing to look at." };
  const fine = `${checks(looked)} found nothing to complain about`;
  return {
    title: "All is fine",
    sentence: skipped > 0 ? `${fine}; ${checks(skipped)} had nothing to look at.` : `${fine}.`,
  };
}

const checks = (count: number): string => (count === 1 ? "1 check" : `${count} checks`);
