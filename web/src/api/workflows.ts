/** Workflows: reading, saving, switching, starting, and what a change makes stale. */
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

/** The kind of their runs among all runs. */
export const WORKFLOW = "workflow";

/** All of them: pages look through the list themselves, so that a filter answers at once. */
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

/** `ref` is a name or an id. Everything about one workflow is kept under `["workflow", ref]`. */
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

/** As YAML, as JSON, or as JSON that is to be written into the YAML so that its comments stay. */
export type Written = { source?: string; definition?: Record<string, unknown> };

/** What a definition comes to, and what is wrong with it. Nothing is saved. */
export function readDefinition(body: Written, signal?: AbortSignal): Promise<WorkflowReading> {
  return unwrap(http.POST("/api/v1/workflows/read", { body, ...(signal && { signal }) }));
}

export function createWorkflow(body: Written): Promise<WorkflowDetail> {
  return unwrap(http.POST("/api/v1/workflows", { body }));
}

/** A new version; 409 when another one was saved since `expected_number`. */
export function saveWorkflow({
  ref,
  ...body
}: Written & { ref: string; expected_number?: number }): Promise<WorkflowDetail> {
  return unwrap(http.PUT("/api/v1/workflows/{ref}", { params: named(ref), body }));
}

/** Off: nothing but a person starts it. */
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

/** What would happen, with no effect. `samples` are what steps are to give, `definition` counts instead of the saved one. */
export function dryRun({ ref, payload, samples = {}, definition }: Trial): Promise<WorkflowDryRun> {
  const body = { payload, samples, ...(definition && { definition }) };
  return unwrap(http.POST("/api/v1/workflows/{ref}/dry-run", { params: named(ref), body }));
}

type Changed = EventOf<"workflow.changed">["data"];

/** The server has just said how a workflow is: show that until it is read again. */
export function putWorkflow(cache: QueryClient, workflow: WorkflowDetail): void {
  for (const ref of [workflow.id, workflow.name]) {
    cache.setQueryData(workflowQuery(ref).queryKey, (before) => before && workflow);
  }
}

/** Something about a workflow is different: read again what a page shows of it, by whichever name it knows it. */
export function refreshWorkflow(cache: QueryClient, changed: Pick<Changed, "workflow_id" | "name">): void {
  void cache.invalidateQueries({ queryKey: workflowsQuery.queryKey });
  for (const ref of [changed.workflow_id, changed.name]) {
    void cache.invalidateQueries({ queryKey: workflowQuery(ref).queryKey, exact: true });
    void cache.invalidateQueries({ queryKey: workflowVersionsQuery(ref).queryKey });
  }
}

/** Runs of them moved: strips, lists of runs and waiting questions are read again where they are shown. */
export function refreshWorkflowRuns(cache: QueryClient): void {
  void cache.invalidateQueries({ queryKey: workflowsQuery.queryKey });
  void cache.invalidateQueries({
    predicate: ({ queryKey: [of, , what] }) => of === "workflow" && (what === "runs" || what === undefined),
  });
}
