import { Link } from "@tanstack/react-router";
import { isFinished } from "@/api/runs";
import type { RunStatus, WorkflowRunDetail } from "@/api/types";
import { formatMicros } from "@/ui/money";
import { RunBadge } from "@/ui/run/RunStatus";
import { RunTime } from "@/ui/run/RunTime";
import { TRIGGERS } from "../words";
import type { RunView } from "./fold";
import { costOf } from "./marks";

type Props = { run: WorkflowRunDetail; view: RunView; status: RunStatus };

/** Status, trigger, time, cost and version, for the header. */
export function Glance({ run, view, status }: Props) {
  const { icon: Icon, word } = TRIGGERS[run.trigger];
  const cost = isFinished(status) && isFinished(run.status) ? run.cost_micros : costOf(view.steps);
  const times = { created_at: run.created_at, started_at: view.startedAt, finished_at: view.finishedAt };
  return (
    <>
      <RunBadge status={status} />
      <span className="mono shrink-0 text-dim max-sm:hidden" title="Duration">
        <RunTime run={times} />
      </span>
      <span className="flex min-w-0 items-center gap-3 text-dim max-md:hidden">
        <span className="flex min-w-0 items-center gap-1.5" title={`Started by: ${word}`}>
          <Icon size={13} aria-hidden className="shrink-0 text-faint" />
          <span className="truncate">{run.source || word}</span>
        </span>
        {cost > 0 && (
          <span className="mono" title="Cost">
            {formatMicros(cost)}
          </span>
        )}
        <Link
          to="/workflows/$ref/versions"
          params={{ ref: run.workflow_id }}
          search={{ version: run.number }}
          title="Version"
          className="mono rounded-sm text-faint hover:text-ink"
        >
          v{run.number}
        </Link>
      </span>
    </>
  );
}
