import type { ReactNode } from "react";
import { cancelRun, isFinished } from "@/api/runs";
import type { Run, RunStatus } from "@/api/types";
import { Page } from "@/ui/Page";
import { CancelRun } from "@/ui/run/CancelRun";
import { RunBadge, runWord } from "@/ui/run/RunStatus";
import { RunTime } from "@/ui/run/RunTime";
import type { RunView } from "./fold";

type Props = {
  run: Run;
  view: RunView;
  /** The list that runs of this kind belong to. */
  home?: { label: string; to: string };
  /** For pages that show a more specific result than the run's status. */
  isBadgeHidden?: boolean;
  /** The result in a word, for screen readers. */
  ending?: string | undefined;
  /** Actions for a finished run. */
  next?: ReactNode;
  children: ReactNode;
};

const RUNS = { label: "Runs", to: "/runs" };

/** The frame of every run's page: title, status and cancel button. */
export function RunFrame({ run, view, home = RUNS, isBadgeHidden = false, ending, next, children }: Props) {
  const status = view.status ?? run.status;
  return (
    <Page
      title={run.title}
      crumbs={[home, ...(run.parent_id ? [{ label: "Started by", to: `/runs/${run.parent_id}` }] : [])]}
      state={<State run={run} view={view} status={status} isBadgeHidden={isBadgeHidden} />}
      actions={isFinished(status) ? next : <CancelRun title={run.title} cancel={() => cancelRun(run.id)} />}
    >
      <Announcement title={run.title} view={view} ending={ending} />
      {children}
    </Page>
  );
}

function State({
  run,
  view,
  status,
  isBadgeHidden,
}: Pick<Props, "run" | "view"> & { status: RunStatus; isBadgeHidden: boolean }) {
  const times = {
    created_at: run.created_at,
    started_at: view.startedAt ?? run.started_at,
    finished_at: view.finishedAt ?? run.finished_at,
  };
  return (
    <>
      {!isBadgeHidden && <RunBadge status={status} outcome={view.outcome ?? run.outcome} />}
      <span className="mono shrink-0 text-dim max-sm:hidden">
        <RunTime run={times} />
      </span>
    </>
  );
}

/** Announces open questions and the result to screen readers. */
function Announcement({ title, view, ending }: { title: string } & Pick<Props, "view" | "ending">) {
  const open = view.gates.find((gate) => gate.status === "open");
  const isOver = view.status !== null && isFinished(view.status);
  return (
    <p role="status" className="sr-only">
      {open
        ? `Needs you: ${open.title}`
        : isOver && view.status
          ? `${title} ${ending ?? runWord(view.status, view.outcome)}`
          : ""}
    </p>
  );
}
