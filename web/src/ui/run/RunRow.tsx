import { Link } from "@tanstack/react-router";
import { CornerDownRight } from "lucide-react";
import type { Run } from "@/api/types";
import { ProgressBar } from "../ProgressBar";
import { Ago } from "../Time";
import { RunState } from "./RunStatus";
import { RunTime } from "./RunTime";

/** A run as one line (two or three on a phone). `data-row` lets J and K move through the list. */
export function RunRow({ run }: { run: Run }) {
  return (
    <li className="@container">
      <Link
        to={run.kind === "workflow" ? "/workflows/runs/$runId" : "/runs/$runId"}
        params={{ runId: run.id }}
        data-row
        className="grid min-h-8 grid-cols-[96px_minmax(0,1fr)_auto] items-center gap-x-3 px-3 -outline-offset-2 hover:bg-raised/60 focus-visible:bg-raised/60 max-sm:min-h-12 max-sm:grid-cols-[minmax(0,1fr)_auto] max-sm:py-1.5"
      >
        <span className="max-sm:order-2 max-sm:text-xs">
          <RunState status={run.status} outcome={run.outcome} />
        </span>
        <span className="flex min-w-0 items-center gap-x-3 max-sm:order-1 max-sm:col-span-2 @max-lg:flex-wrap">
          {run.parent_id && (
            <span className="shrink-0 text-faint">
              <CornerDownRight size={13} aria-hidden />
              <span className="sr-only">Started by another run:</span>
            </span>
          )}
          <span className="max-w-full truncate font-medium">{run.title}</span>
          <span className="mono shrink-0 text-faint @max-lg:hidden">{run.kind}</span>
          <Note run={run} />
        </span>
        <span className="mono flex items-center justify-end gap-3 text-dim max-sm:order-3">
          <span className="text-right sm:min-w-[72px]">
            <RunTime run={run} />
          </span>
          <Ago at={run.created_at} className="min-w-[72px] text-right text-faint @max-lg:min-w-0" />
        </span>
      </Link>
    </li>
  );
}

/** The progress, or the error. */
function Note({ run: { status, progress, error } }: { run: Run }) {
  if (status === "failed" && error)
    return <span className="truncate text-dim @max-lg:basis-full @max-lg:text-xs">{error.message}</span>;
  if ((status !== "running" && status !== "waiting") || !progress) return null;
  return (
    <span className="ml-auto flex min-w-0 items-center gap-2 text-xs text-dim @max-lg:ml-0 @max-lg:basis-full">
      <span className="truncate">{progress.note}</span>
      <ProgressBar
        done={progress.done}
        total={progress.total}
        label="Progress"
        tone={status === "waiting" ? "wait" : "run"}
        className="w-20 shrink-0"
      />
      <span className="mono min-w-[40px] shrink-0 text-right">
        {progress.done}/{progress.total}
      </span>
    </span>
  );
}
