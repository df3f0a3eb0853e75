import type { WorkflowAttempt } from "@/api/types";
import { Badge } from "@/ui/Badge";
import { InlineText } from "@/ui/InlineText";
import { JsonView } from "@/ui/JsonView";
import { formatMicros } from "@/ui/money";
import { Ago } from "@/ui/Time";
import { formatDuration } from "@/ui/time";

/** The attempts of a step: error, rewritten input and delay. The error of a single attempt is already shown above. */
export function Attempts({ attempts }: { attempts: readonly WorkflowAttempt[] }) {
  if (attempts.length === 0) return <p className="text-dim">No attempts yet.</p>;
  return (
    <ol className="space-y-3">
      {attempts.map((attempt) => (
        <li key={attempt.number} className="space-y-2 rounded-md border border-line p-2.5">
          <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <span className="font-medium">Attempt {attempt.number}</span>
            <Ending attempt={attempt} />
            {attempt.duration_ms != null && (
              <span className="mono text-dim">{formatDuration(attempt.duration_ms)}</span>
            )}
            {attempt.cost_micros > 0 && (
              <span className="mono text-dim">{formatMicros(attempt.cost_micros)}</span>
            )}
            <Ago at={attempt.started_at} className="mono ml-auto text-faint" />
          </p>
          {attempt.error && attempts.length > 1 && (
            <p className="text-xs break-words text-bad">
              <InlineText text={attempt.error.message} />{" "}
              <span className="mono text-faint">{attempt.error.code}</span>
            </p>
          )}
          {attempt.input != null && (
            <div className="space-y-1">
              <p className="text-xs font-medium text-dim">Input rewritten by a model</p>
              {attempt.note && (
                <p className="text-xs break-words text-dim">
                  <InlineText text={attempt.note} />
                </p>
              )}
              <JsonView value={attempt.input} name={`attempt-${attempt.number}-input`} />
            </div>
          )}
          {attempt.input == null && attempt.note && (
            <p className="text-xs break-words text-dim">
              <InlineText text={attempt.note} />
            </p>
          )}
          {attempt.retry_in_s != null && (
            <p className="text-xs text-dim">Retries after {formatDuration(attempt.retry_in_s * 1000)}.</p>
          )}
        </li>
      ))}
    </ol>
  );
}

function Ending({ attempt: { error, duration_ms } }: { attempt: WorkflowAttempt }) {
  if (error) return <Badge tone="bad">failed</Badge>;
  return duration_ms == null ? <Badge tone="run">running</Badge> : <Badge tone="ok">done</Badge>;
}
