import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useMemo } from "react";
import { answerGate } from "@/api/gates";
import { isFinished } from "@/api/runs";
import type { Gate, RunStatus, WorkflowRunDetail } from "@/api/types";
import { useStream } from "@/api/useStream";
import { workflowRunQuery } from "@/api/workflowRuns";
import { ErrorState } from "@/ui/ErrorState";
import { Page } from "@/ui/Page";
import { OpenGates } from "@/ui/run/OpenGates";
import { Failure } from "@/ui/run/Outcome";
import { RUN_WORD } from "@/ui/run/RunStatus";
import { Actions } from "./Actions";
import { Board } from "./Board";
import { foldRun, NOTHING_YET, type RunView } from "./fold";
import { Glance } from "./Glance";

const route = getRouteApi("/shell/workflows/runs/$runId");

/** The page of a workflow run. */
export function RunPage() {
  const { runId } = route.useParams();
  const { data: run } = useSuspenseQuery(workflowRunQuery(runId));
  const { state, phase, error, retry } = useStream(`run:${runId}`, foldRun, NOTHING_YET);
  const view = useMemo(() => withKnown(state, run), [state, run]);
  const status = view.status ?? run.status;
  useReadAtEnd(run, status);
  return (
    <Page
      title={run.workflow_name}
      titleTo={`/workflows/${run.workflow_id}`}
      crumbs={[
        { label: "Workflows", to: "/workflows" },
        ...(run.parent_id ? [{ label: "Started by", to: `/runs/${run.parent_id}` }] : []),
      ]}
      state={<Glance run={run} view={view} status={status} />}
      actions={<Actions run={run} status={status} />}
    >
      <Announcement run={run} status={status} gates={view.gates} />
      <div className="flex flex-col gap-3 p-3 max-sm:p-2 lg:h-full">
        <OpenGates gates={view.gates.map(withoutPlace)} answer={answerGate} />
        {view.error && <Failure error={view.error} />}
        {phase === "failed" && <ErrorState error={error} retry={retry} />}
        <Board run={run} view={view} isLoading={phase === "loading"} />
      </div>
    </Page>
  );
}

/** Fill in what was known before the events arrived. */
function withKnown(view: RunView, run: WorkflowRunDetail): RunView {
  const known = run.steps.filter(({ key }) => !view.steps.has(key));
  return {
    ...view,
    startedAt: view.startedAt ?? run.started_at,
    finishedAt: view.finishedAt ?? run.finished_at,
    error: view.error ?? run.error,
    output: view.output ?? run.output,
    gates: view.status === null ? run.gates : view.gates,
    steps:
      known.length > 0
        ? new Map([...known.map((step) => [step.key, step] as const), ...view.steps])
        : view.steps,
  };
}

/** The page already shows the workflow and the step. */
function withoutPlace(gate: Gate): Gate {
  const { workflow_id: _id, workflow: _name, step: _step, ...payload } = gate.payload;
  return { ...gate, payload };
}

/** Refetch the run when it ends, for its final cost and output. */
function useReadAtEnd(run: WorkflowRunDetail, status: RunStatus): void {
  const cache = useQueryClient();
  const isNews = isFinished(status) && !isFinished(run.status);
  useEffect(() => {
    if (isNews) void cache.invalidateQueries({ queryKey: workflowRunQuery(run.id).queryKey, exact: true });
  }, [isNews, cache, run.id]);
}

type Said = { run: WorkflowRunDetail; status: RunStatus; gates: readonly Gate[] };

/** Announces open questions and the result to screen readers. */
function Announcement({ run, status, gates }: Said) {
  const open = gates.find((gate) => gate.status === "open");
  const said = open ? `Needs you: ${open.title}` : `${run.workflow_name} ${RUN_WORD[status]}`;
  return (
    <p role="status" className="sr-only">
      {open || isFinished(status) ? said : ""}
    </p>
  );
}
