import { clsx } from "clsx";
import { Dot } from "@/ui/Badge";
import { InlineText } from "@/ui/InlineText";
import { Elapsed, useNow } from "@/ui/Time";
import { formatDuration } from "@/ui/time";
import { FILL, type Tone } from "@/ui/tone";
import type { StepView } from "./fold";

const TONE: Record<StepView["status"], Tone> = {
  running: "run",
  retrying: "wait",
  ok: "ok",
  error: "bad",
  stopped: "idle",
};
const WORD: Record<StepView["status"], string> = {
  running: "running",
  retrying: "retrying",
  ok: "done",
  error: "failed",
  stopped: "stopped",
};
/** Minimum width, so that very short steps stay visible. */
const THINNEST_PERCENT = 0.75;

type Span = { from: number; to: number };

/** The steps of a run with their position on the time axis. */
export function StepList({ steps, finishedAt }: { steps: readonly StepView[]; finishedAt: string | null }) {
  const now = useNow();
  const span = { from: Date.parse(steps[0]?.startedAt ?? ""), to: finishedAt ? Date.parse(finishedAt) : now };
  return (
    <ol className="divide-y divide-line">
      {steps.map((step) => (
        <StepRow key={step.number} step={step} span={span} now={now} />
      ))}
    </ol>
  );
}

function StepRow({ step, span, now }: { step: StepView; span: Span; now: number }) {
  const { status, finishedAt, startedAt } = step;
  const isCurrent = status === "running" || status === "retrying";
  return (
    <li aria-current={isCurrent ? "step" : undefined} className="px-3 py-1.5">
      <div className="flex items-center gap-2">
        <Dot tone={TONE[status]} />
        <span className="truncate font-medium">{step.name}</span>
        <span className={clsx("text-xs text-dim", status === "ok" && "sr-only")}>{WORD[status]}</span>
        {step.attempt > 1 && (
          <span className="text-xs whitespace-nowrap text-dim">attempt {step.attempt}</span>
        )}
        <span className="mono ml-auto shrink-0 text-dim">
          {finishedAt && !isCurrent ? (
            formatDuration(Date.parse(finishedAt) - Date.parse(startedAt))
          ) : (
            <Elapsed from={startedAt} />
          )}
        </span>
      </div>
      <Lane step={step} span={span} now={now} />
      {step.error && status !== "ok" && (
        <p className={clsx("mt-1 pl-4 text-xs break-words", status === "error" ? "text-bad" : "text-dim")}>
          {step.error.message} {step.error.hint && <InlineText text={step.error.hint} />}
        </p>
      )}
    </li>
  );
}

/** When the step ran, relative to the whole run. */
function Lane({ step, span, now }: { step: StepView; span: Span; now: number }) {
  const whole = Math.max(1, span.to - span.from);
  const from = Date.parse(step.startedAt);
  const to = step.finishedAt ? Date.parse(step.finishedAt) : Math.max(now, from);
  const left = Math.min(100 - THINNEST_PERCENT, Math.max(0, ((from - span.from) / whole) * 100));
  const width = Math.min(100 - left, Math.max(THINNEST_PERCENT, ((to - from) / whole) * 100));
  return (
    <div aria-hidden className="mt-1 ml-4 h-[3px] rounded-full bg-raised">
      <div
        className={clsx("h-full rounded-full opacity-80", FILL[TONE[step.status]])}
        style={{ marginLeft: `${left}%`, width: `${width}%` }}
      />
    </div>
  );
}
