/** Log lines of audit events. Findings are shown on the page itself. */
import { VERDICT_TONE } from "@/ui/audit/Verdict";
import type { Tone } from "@/ui/tone";
import type { EventFor } from "../parts";

export function sayOfAudit(event: EventFor<"audit">): { text: string; tone: Tone } {
  switch (event.type) {
    case "audit.started":
      return { text: `Auditing ${event.data.project}: ${event.data.checks.join(", ")}.`, tone: "idle" };
    case "audit.check": {
      const { code, name, result, detail } = event.data.result;
      return { text: `${code} ${name}: ${result}. ${detail}`, tone: VERDICT_TONE[result] };
    }
    case "audit.finished": {
      const { overall } = event.data.summary;
      return { text: `Overall: ${overall}.`, tone: VERDICT_TONE[overall] };
    }
    case "audit.recorded": {
      const { entry, problem } = event.data;
      return problem
        ? { text: `No ledger entry: ${problem}`, tone: "wait" }
        : { text: `Recorded as ledger entry ${entry}.`, tone: "idle" };
    }
  }
}
