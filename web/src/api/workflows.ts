/** Workflow queries, mutations, and the cache invalidation that goes with them. */
import { infiniteQueryOptions, type QueryClient, queryOptions } from "@tanstack/react-query";
import { accepted, http, type Page, unwrap, unwrapPage } from "./client";
import type {
  EventOf,
  WorkflowCard,
  WorkflowDetail,
  WorkflowDryRun,
  WorkflowReading,
  WorkflowRun,
  WorkflowSubmitted,
  WorkflowTemplate,
  WorkflowVersion,
  WorkflowVersionDetail,
} from "./types";

/** The kind of workflow runs. */
export const WORKFLOW = "workflow";

/** All workflows; pages filter the list locally, so that filters apply immediately. */
export const workflowsQuery = queryOptions<WorkflowCard[]>({
  queryKey: ["workflows"],
  queryFn: ({ signal }) => unwrap(http.GET("/api/v1/workflows", { signal })),
});

export const templatesQuery = queryOptions<WorkflowTemplate[]>({
  queryKey: ["workflow-templates"],
  queryFn: ({ signal }) => unwrap(http.GET("/api/v1/workflows/templates", { signal })),
  staleTime: Number.POSITIVE_INFINITY,
});

const named = (ref: string) => ({ path: { ref } });

/** `ref` is a name or an ID. All queries about one workflow share the key prefix `["workflow", ref]`. */
export function workflowQuery(ref: string) {
  return queryOptions<WorkflowDetail>({
    queryKey: ["workflow", ref],
    queryFn: ({ signal }) => unwrap(http.GET("/api/v1/workflows/{ref}", { params: named(ref), signal })),
  });
}

export function workflowVersionsQuery(ref: string) {
  return queryOptions<WorkflowVersion[]>({
    queryKey: ["workflow", ref, "versions"],
    queryFn: ({ signal }) =>
      unwrap(http.GET("/api/v1/workflows/{ref}/versions", { params: named(ref), signal })),
  });
}

/** A version never changes. */
export function workflowVersionQuery(ref: string, number: number) {
  return queryOptions<WorkflowVersionDetail>({
    queryKey: ["workflow", ref, "version", number],
    queryFn: ({ signal }) => {
      const params = { path: { ref, number } };
      return unwrap(http.GET("/api/v1/workflows/{ref}/versions/{number}", { params, signal }));
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}

const RUNS_A_PAGE = 50;

export function runsOfWorkflowQuery(ref: string) {
  return infiniteQueryOptions({
    queryKey: ["workflow", ref, "runs"],
    queryFn: ({ signal, pageParam }) => {
      const query = { limit: RUNS_A_PAGE, ...(pageParam && { cursor: pageParam }) };
      return unwrapPage<WorkflowRun>(
        http.GET("/api/v1/workflows/{ref}/runs", { params: { ...named(ref), query }, signal }),
      );
    },
    initialPageParam: null as string | null,
    getNextPageParam: (last: Page<WorkflowRun>) => last.nextCursor,
  });
}

/** YAML, JSON, or both: then the server writes the JSON into the YAML and keeps its comments. */
export type Written = { source?: string; definition?: Record<string, unknown> };

/** Parse and validate a definition, without saving anything. */
export function readDefinition(body: Written, signal?: AbortSignal): Promise<WorkflowReading> {
  return unwrap(http.POST("/api/v1/workflows/read", { body, ...(signal && { signal }) }));
}

export function createWorkflow(body: Written): Promise<WorkflowDetail> {
  return unwrap(http.POST("/api/v1/workflows", { body }));
}

/** Save a new version; 409 if another version was saved since `expected_number`. */
export function saveWorkflow({
  ref,
  ...body
}: Written & { ref: string; expected_number?: number }): Promise<WorkflowDetail> {
  return unwrap(http.PUT("/api/v1/workflows/{ref}", { params: named(ref), body }));
}

/** A disabled workflow can only be started manually. */
export function switchWorkflow({ ref, isEnabled }: { ref: string; isEnabled: boolean }) {
  const body = { is_enabled: isEnabled };
  return unwrap<WorkflowDetail>(http.PATCH("/api/v1/workflows/{ref}", { params: named(ref), body }));
}

export async function deleteWorkflow(ref: string): Promise<void> {
  await accepted(http.DELETE("/api/v1/workflows/{ref}", { params: named(ref) }));
}

export type Payload = Record<string, unknown>;

export function triggerWorkflow({ ref, payload }: { ref: string; payload: Payload }) {
  return unwrap<WorkflowSubmitted>(
    http.POST("/api/v1/workflows/{ref}/trigger", { params: named(ref), body: payload }),
  );
}

type Trial = {
  ref: string;
  payload: Payload;
  samples?: Record<string, unknown>;
  definition?: Record<string, unknown>;
};

/** Simulate a run without side effects. `samples` are outputs by step ID; `definition` replaces the saved one. */
export function dryRun({ ref, payload, samples = {}, definition }: Trial): Promise<WorkflowDryRun> {
  const body = { payload, samples, ...(definition && { definition }) };
  return unwrap(http.POST("/api/v1/workflows/{ref}/dry-run", { params: named(ref), body }));
}

type Changed = EventOf<"workflow.changed">["data"];

/** Show a workflow as returned by a mutation until it is refetched. */
export function putWorkflow(cache: QueryClient, workflow: WorkflowDetail): void {
  for (const ref of [workflow.id, workflow.name]) {
    cache.setQueryData(workflowQuery(ref).queryKey, (before) => before && workflow);
  }
}

/** Invalidate the queries about a changed workflow, under its ID and its name. */
export function refreshWorkflow(cache: QueryClient, changed: Pick<Changed, "workflow_id" | "name">): void {
  void cache.invalidateQueries({ queryKey: workflowsQuery.queryKey });
  for (const ref of [changed.workflow_id, changed.name]) {
    void cache.invalidateQueries({ queryKey: workflowQuery(ref).queryKey, exact: true });
    void cache.invalidateQueries({ queryKey: workflowVersionsQuery(ref).queryKey });
  }
}

/** Refetch what shows runs of workflows: strips, run lists and open questions. */
export function refreshWorkflowRuns(cache: QueryClient): void {
  void cache.invalidateQueries({ queryKey: workflowsQuery.queryKey });
  void cache.invalidateQueries({
    predicate: ({ queryKey: [of, , what] }) => of === "workflow" && (what === "runs" || what === undefined),
  });
}
