/** Runs of workflows: read, cancel, retry and rerun them. */
import { queryOptions } from "@tanstack/react-query";
import { http, unwrap } from "./client";
import type { WorkflowRunDetail, WorkflowStepDetail, WorkflowSubmitted } from "./types";

const of = (runId: string) => ({ path: { run_id: runId } });

export function workflowRunQuery(runId: string) {
  return queryOptions<WorkflowRunDetail>({
    queryKey: ["workflow-run", runId],
    queryFn: ({ signal }) =>
      unwrap(http.GET("/api/v1/workflow-runs/{run_id}", { params: of(runId), signal })),
  });
}

/** A step with its input and output. `moved` is part of the key and must differ whenever the step has progressed. */
export function workflowStepQuery(runId: string, key: string, moved: string) {
  return queryOptions<WorkflowStepDetail | null>({
    queryKey: ["workflow-run", runId, "step", key, moved],
    queryFn: async ({ signal }) => {
      const params = { ...of(runId), query: { key } };
      const found = await unwrap(http.GET("/api/v1/workflow-runs/{run_id}/steps", { params, signal }));
      return found[0] ?? null;
    },
  });
}

export function cancelWorkflowRun(runId: string): Promise<WorkflowRunDetail> {
  return unwrap(http.POST("/api/v1/workflow-runs/{run_id}/cancel", { params: of(runId) }));
}

/** Start a new run from the failed step; completed steps are kept. */
export function retryWorkflowRun(runId: string): Promise<WorkflowSubmitted> {
  return unwrap(http.POST("/api/v1/workflow-runs/{run_id}/retry", { params: of(runId) }));
}

type Again = { runId: string; payload?: Record<string, unknown>; useLatest: boolean };

/** Start a new run from the beginning, by default with the payload of this run. */
export function rerunWorkflowRun({ runId, payload, useLatest }: Again): Promise<WorkflowSubmitted> {
  const body = { use_latest: useLatest, ...(payload && { payload }) };
  return unwrap(http.POST("/api/v1/workflow-runs/{run_id}/rerun", { params: of(runId), body }));
}
