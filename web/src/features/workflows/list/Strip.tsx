import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import type { WorkflowMark } from "@/api/types";
import { RUN_TONE, RUN_WORD } from "@/ui/run/RunStatus";
import { useNow } from "@/ui/Time";
import { formatAgo, formatDuration } from "@/ui/time";
import { FILL } from "@/ui/tone";

const LOWEST_PERCENT = 30;

/**
 * The last runs, newest at the end: color shows the result, height the duration. The links are for the mouse only; the
 * keyboard uses the runs page.
 */
export function Strip({ runs }: { runs: readonly WorkflowMark[] }) {
  const longest = Math.max(1, ...runs.map(({ duration_ms }) => duration_ms ?? 0));
  if (runs.length === 0) return <span className="text-faint">never run</span>;
  return (
    <ul aria-label={summaryOf(runs)} className="flex h-5 items-end">
      {runs.map((run) => (
        <Mark key={run.id} run={run} share={(run.duration_ms ?? longest) / longest} />
      ))}
    </ul>
  );
}

function Mark({ run, share }: { run: WorkflowMark; share: number }) {
  const tone = RUN_TONE[run.status];
  const took = run.duration_ms == null ? "" : ` in ${formatDuration(run.duration_ms)}`;
  const said = `${RUN_WORD[run.status]}${took}, ${formatAgo(run.created_at, useNow())}`;
  return (
    <li className="flex h-full">
      <Link
        to="/workflows/runs/$runId"
        params={{ runId: run.id }}
        preload={false}
        tabIndex={-1}
        aria-label={said}
        title={said}
        className="group flex h-full items-end px-px hover:bg-raised"
      >
        <span
          className={clsx(
            "w-1 rounded-[1px] opacity-80 group-hover:opacity-100",
            FILL[tone],
            tone === "run" && "pulse",
          )}
          style={{ height: `${Math.max(LOWEST_PERCENT, share * 100)}%` }}
        />
      </Link>
    </li>
  );
}

/** "The last 12 runs: 11 completed, 1 failed". */
export function summaryOf(runs: readonly WorkflowMark[]): string {
  const statuses = [...new Set(runs.map(({ status }) => status))];
  const counts = statuses.map(
    (status) => `${runs.filter((run) => run.status === status).length} ${RUN_WORD[status]}`,
  );
  return `The last ${runs.length} runs: ${counts.join(", ")}`;
}
