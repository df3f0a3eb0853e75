import type { Severity, Verdict } from "@/api/types";
import { Badge, Dot } from "../Badge";
import { INK, type Tone } from "../tone";

/** What could not be examined is as bad as what failed. */
export const VERDICT_TONE: Record<Verdict, Tone> = {
  PASS: "ok",
  WARN: "wait",
  FAIL: "bad",
  ERROR: "bad",
  SKIP: "idle",
};

export const SEVERITY_TONE: Record<Severity, Tone> = {
  fail: "bad",
  error: "bad",
  warn: "wait",
  note: "idle",
};

export function VerdictBadge({ verdict }: { verdict: Verdict }) {
  return <Badge tone={VERDICT_TONE[verdict]}>{verdict}</Badge>;
}

/** The same without the frame, for rows. What went well stays quiet: only its dot is coloured. */
export function VerdictWord({ verdict }: { verdict: Verdict }) {
  return <ToneWord tone={VERDICT_TONE[verdict]} word={verdict} isQuiet={verdict === "PASS"} />;
}

export function SeverityWord({ severity }: { severity: Severity }) {
  return <ToneWord tone={SEVERITY_TONE[severity]} word={severity.toUpperCase()} />;
}

type WordProps = { tone: Tone; word: string; isQuiet?: boolean };

export function ToneWord({ tone, word, isQuiet = false }: WordProps) {
  return (
    <span
      className={`flex shrink-0 items-center gap-2 text-xs font-medium ${isQuiet ? INK.idle : INK[tone]}`}
    >
      <Dot tone={tone} /> {word}
    </span>
  );
}
