import { answerGate } from "@/api/gates";
import type { Progress, Run, RunDetail, RunStatus } from "@/api/types";
import { useStream } from "@/api/useStream";
import { ErrorState } from "@/ui/ErrorState";
import { Kbd } from "@/ui/Kbd";
import { LogView } from "@/ui/LogView";
import { Panel } from "@/ui/Panel";
import { ProgressBar } from "@/ui/ProgressBar";
import { OpenGates } from "@/ui/run/OpenGates";
import { Failure, Output } from "@/ui/run/Outcome";
import { RunRow } from "@/ui/run/RunRow";
import { RUN_TONE } from "@/ui/run/RunStatus";
import { SkeletonRows } from "@/ui/Skeleton";
import { foldRun, NOTHING_YET, type RunView } from "./fold";
import { Identity } from "./Identity";
import { RunFrame } from "./RunFrame";
import { StepList } from "./StepList";

/** The page of a generic run, folded from its events. */
export function StepsPage({ detail: { run, children } }: { detail: RunDetail }) {
  const stream = useStream(`run:${run.id}`, foldRun, NOTHING_YET);
  const { state: view, phase, error, retry } = stream;
  const status = view.status ?? run.status;
  const isLoading = phase === "loading";

  return (
    <RunFrame run={run} view={view}>
      <div className="flex flex-col gap-3 p-3 max-sm:p-2 lg:h-full">
        {view.progress && status !== "completed" && <Progression progress={view.progress} status={status} />}
        <OpenGates gates={view.gates} answer={answerGate} />
        {view.error && <Failure error={view.error} />}
        {phase === "failed" && <ErrorState error={error} retry={retry} />}
        {!stream.isUnread && (
          <div className="grid min-h-0 flex-1 grid-cols-1 gap-3 lg:grid-cols-[minmax(300px,2fr)_minmax(0,3fr)] lg:grid-rows-[minmax(280px,1fr)]">
            <div className="flex min-h-0 flex-col gap-3 lg:overflow-auto">
              <Steps view={view} isLoading={isLoading} />
              {status === "completed" && view.output !== null && <Output output={view.output} />}
              {children.length > 0 && <Children runs={children} />}
              <Identity run={run} />
            </div>
            <Panel
              title="Log"
              {...(!isLoading && { count: view.log.length })}
              actions={
                <span aria-hidden className="flex text-dim">
                  <Kbd keys="l" />
                </span>
              }
              className="h-[420px] min-h-0 lg:h-auto"
            >
              {isLoading ? (
                <SkeletonRows rows={8} label="Loading log" />
              ) : (
                <LogView lines={view.log} label="Run log" />
              )}
            </Panel>
          </div>
        )}
      </div>
    </RunFrame>
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
    <Panel title="Steps" {...(!isLoading && { count: view.steps.length })} className="shrink-0">
      {isLoading && <SkeletonRows rows={4} label="Loading steps" />}
      {!isLoading && view.steps.length === 0 && <p className="p-3 text-dim">No steps started yet.</p>}
      <StepList steps={view.steps} finishedAt={view.finishedAt} />
    </Panel>
  );
}

function Children({ runs }: { runs: readonly Run[] }) {
  return (
    <Panel title="Child runs" count={runs.length} className="shrink-0">
      <ul className="divide-y divide-line">
        {runs.map((run) => (
          <RunRow key={run.id} run={run} />
        ))}
      </ul>
    </Panel>
  );
}
