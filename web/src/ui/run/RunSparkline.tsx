import { clsx } from "clsx";
import type { Run } from "@/api/types";
import { FILL } from "../tone";
import { RUN_TONE, RUN_WORD } from "./RunStatus";

const MAX_RUNS = 24;
const LOWEST_PERCENT = 12;

/** The last runs, oldest first: height shows the duration, color the result. */
export function RunSparkline({ runs }: { runs: readonly Run[] }) {
  const shown = runs.slice(0, MAX_RUNS).reverse();
  const longest = Math.max(1, ...shown.map(durationOf));
  if (shown.length < 2) return null;
  return (
    <div role="img" aria-label={summaryOf(shown)} className="flex h-4 items-end gap-0.5 max-sm:hidden">
      {shown.map((run) => (
        <span
          key={run.id}
          className={clsx("w-[3px] rounded-[1px] opacity-80", FILL[RUN_TONE[run.status]])}
          style={{ height: `${Math.max(LOWEST_PERCENT, (durationOf(run) / longest) * 100)}%` }}
        />
      ))}
    </div>
  );
}

function durationOf({ started_at: from, finished_at: to }: Run): number {
  return from && to ? Date.parse(to) - Date.parse(from) : 0;
}

/** "The last 12 runs: 11 completed, 1 failed". */
function summaryOf(runs: readonly Run[]): string {
  const statuses = [...new Set(runs.map((run) => run.status))];
  const counts = statuses.map(
    (status) => `${runs.filter((run) => run.status === status).length} ${RUN_WORD[status]}`,
  );
  return `The last ${runs.length} runs: ${counts.join(", ")}`;
}
