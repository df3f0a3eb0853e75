import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { isFinished, runQuery } from "@/api/runs";
import type { Progress, Run, RunStatus } from "@/api/types";
import { useStream } from "@/api/useStream";
import { CopyButton } from "@/ui/CopyButton";
import { ErrorState } from "@/ui/ErrorState";
import { Kbd } from "@/ui/Kbd";
import { LogView } from "@/ui/LogView";
import { Page } from "@/ui/Page";
import { Panel } from "@/ui/Panel";
import { ProgressBar } from "@/ui/ProgressBar";
import { RunRow } from "@/ui/run/RunRow";
import { RUN_TONE, RUN_WORD, RunBadge } from "@/ui/run/RunStatus";
import { RunTime } from "@/ui/run/RunTime";
import { SkeletonRows } from "@/ui/Skeleton";
import { CancelRun } from "./CancelRun";
import { foldRun, NOTHING_YET, type RunView } from "./fold";
import { OpenGates } from "./OpenGates";
import { Failure, Output } from "./Outcome";
import { StepList } from "./StepList";

const route = getRouteApi("/shell/runs/$runId");

/** One run: what it needs, what it is doing, what came out. All of it is a fold over the run's events. */
export function RunPage() {
  const { runId } = route.useParams();
  const { run, children } = useSuspenseQuery(runQuery(runId)).data;
  const { state: view, phase, error, retry } = useStream(`run:${runId}`, foldRun, NOTHING_YET);
  const status = view.status ?? run.status;

  return (
    <Page
      title={run.title}
      crumbs={[
        { label: "Runs", to: "/runs" },
        ...(run.parent_id ? [{ label: "Started by", to: `/runs/${run.parent_id}` }] : []),
      ]}
      state={<State run={run} view={view} status={status} />}
      actions={!isFinished(status) && <CancelRun runId={runId} title={run.title} />}
    >
      <Announcement title={run.title} view={view} />
      <div className="flex flex-col gap-3 p-3 max-sm:p-2 lg:h-full">
        {view.progress && <Progression progress={view.progress} status={status} />}
        <OpenGates gates={view.gates} />
        {view.error && <Failure error={view.error} />}
        {phase === "failed" && <ErrorState error={error} retry={retry} />}
        <div className="grid min-h-0 flex-1 grid-cols-1 gap-3 lg:grid-cols-[minmax(300px,2fr)_minmax(0,3fr)] lg:grid-rows-[minmax(280px,1fr)]">
          <div className="flex min-h-0 flex-col gap-3 lg:overflow-auto">
            <Steps view={view} isLoading={phase === "loading"} />
            {status === "completed" && view.output !== null && <Output output={view.output} />}
            {children.length > 0 && <Children runs={children} />}
            <Identity run={run} />
          </div>
          <Panel
            title="Log"
            count={view.log.length}
            actions={
              <span aria-hidden className="flex text-dim">
                <Kbd keys="l" />
              </span>
            }
            className="h-[420px] min-h-0 lg:h-auto"
          >
            <LogView lines={view.log} label="Log of the run" />
          </Panel>
        </div>
      </div>
    </Page>
  );
}

function State({ run, view, status }: { run: Run; view: RunView; status: RunStatus }) {
  const times = {
    created_at: run.created_at,
    started_at: view.startedAt ?? run.started_at,
    finished_at: view.finishedAt ?? run.finished_at,
  };
  return (
    <>
      <RunBadge status={status} />
      <span className="mono shrink-0 text-dim max-sm:hidden">
        <RunTime run={times} />
      </span>
    </>
  );
}

function Progression({ progress, status }: { progress: Progress; status: RunStatus }) {
  const { done, total, note } = progress;
  return (
    <div>
      <div className="mb-1.5 flex items-baseline gap-3 text-xs text-dim">
        <span className="truncate">{note}</span>
        <span className="mono ml-auto">
          {done} of {total}
        </span>
      </div>
      <ProgressBar done={done} total={total} label={note || "Progress"} tone={RUN_TONE[status]} />
    </div>
  );
}

function Steps({ view, isLoading }: { view: RunView; isLoading: boolean }) {
  return (
    <Panel title="Steps" count={view.steps.length} className="shrink-0">
      {isLoading && <SkeletonRows rows={4} label="Loading the steps" />}
      {!isLoading && view.steps.length === 0 && <p className="p-3 text-dim">No step has started yet.</p>}
      <StepList steps={view.steps} finishedAt={view.finishedAt} />
    </Panel>
  );
}

function Children({ runs }: { runs: readonly Run[] }) {
  return (
    <Panel title="Runs it started" count={runs.length} className="shrink-0">
      <ul className="divide-y divide-line">
        {runs.map((run) => (
          <RunRow key={run.id} run={run} />
        ))}
      </ul>
    </Panel>
  );
}

function Identity({ run }: { run: Run }) {
  return (
    <p className="mono flex items-center gap-2 px-3 text-faint">
      <span className="shrink-0">{run.kind}</span>
      <span className="truncate">{run.id}</span>
      <CopyButton text={run.id} label="Copy the id" iconOnly />
    </p>
  );
}

/** For a screen reader: a question that opened, or how the run ended. */
function Announcement({ title, view }: { title: string; view: RunView }) {
  const open = view.gates.find((gate) => gate.status === "open");
  const isOver = view.status !== null && isFinished(view.status);
  return (
    <p role="status" className="sr-only">
      {open ? `Needs you: ${open.title}` : isOver && view.status ? `${title} ${RUN_WORD[view.status]}` : ""}
    </p>
  );
}
