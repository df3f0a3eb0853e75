import { Dot } from "@/ui/Badge";
import { Elapsed, Remaining } from "@/ui/Time";
import { INK } from "@/ui/tone";
import type { Activity } from "./activity";

/** What the agent is doing and since when, or when it continues. */
export function ActivityLine({ activity: { tone, text, since, until, hint } }: { activity: Activity }) {
  return (
    <div className="flex min-h-8 items-center gap-2 border-t border-line px-3 py-1">
      <Dot tone={tone} />
      <p className="flex min-w-0 items-baseline gap-2">
        <span className={`max-w-full min-w-0 truncate ${hint ? "shrink-0" : ""} ${INK[tone]}`}>{text}</span>
        {since && (
          <span className="mono shrink-0 text-dim">
            <Elapsed from={since} />
          </span>
        )}
        {until && (
          <span className="mono shrink-0 text-dim">
            in <Remaining to={until} />
          </span>
        )}
        {hint && (
          <span title={hint} className="min-w-0 truncate text-xs text-dim">
            {hint}
          </span>
        )}
      </p>
    </div>
  );
}
