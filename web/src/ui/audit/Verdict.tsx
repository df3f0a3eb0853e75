import type { RunStatus, Severity, Verdict } from "@/api/types";
import { Dot } from "../Badge";
import { RUN_TONE, RUN_WORD } from "../run/RunStatus";
import { INK, type Tone } from "../tone";

/** What could not be checked is as bad as a failure. */
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

/** The status of an audit without a verdict. "failed" is reserved for the audited project. */
export const stateWord = (status: RunStatus): string =>
  status === "failed" || status === "completed" ? "no verdict" : RUN_WORD[status];

/** The verdict or status as a heading. */
export function LargeVerdict({ verdict, status }: { verdict: Verdict | null; status: RunStatus }) {
  const tone = verdict ? VERDICT_TONE[verdict] : RUN_TONE[status];
  return (
    <p className={`flex shrink-0 items-center gap-2 text-xl font-semibold ${INK[tone]}`}>
      <Dot tone={tone} className="size-2.5" /> {verdict ?? stateWord(status)}
    </p>
  );
}

/** The verdict in a list. A pass stays quiet: only its dot is colored. */
export function VerdictWord({ verdict }: { verdict: Verdict }) {
  return <ToneWord tone={VERDICT_TONE[verdict]} word={verdict} isQuiet={verdict === "PASS"} />;
}

/** The status in a list, for audits without a verdict. */
export function StateWord({ status }: { status: RunStatus }) {
  return <ToneWord tone={RUN_TONE[status]} word={stateWord(status)} />;
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
