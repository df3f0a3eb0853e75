/** Read, start and cancel runs. */
import { type InfiniteData, infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { http, type Page, unwrap, unwrapPage } from "./client";
import type { Run, RunDetail, RunStatus } from "./types";

export type RunFilter = { statuses?: readonly RunStatus[]; kind?: string; limit?: number };
export type RunPages = InfiniteData<Page<Run>>;

export const ACTIVE: readonly RunStatus[] = ["pending", "running", "waiting"];
export const FINISHED: readonly RunStatus[] = ["completed", "failed", "cancelled"];
const PAGE = 50;

export const isFinished = (status: RunStatus): boolean => FINISHED.includes(status);

export function runsQuery(filter: RunFilter) {
  const { statuses = [], kind, limit = PAGE } = filter;
  return infiniteQueryOptions({
    queryKey: ["runs", filter],
    queryFn: ({ signal, pageParam }) => {
      const query = {
        status: [...statuses],
        limit,
        ...(kind && { kind }),
        ...(pageParam && { cursor: pageParam }),
      };
      return unwrapPage<Run>(http.GET("/api/v1/runs", { params: { query }, signal }));
    },
    initialPageParam: null as string | null,
    getNextPageParam: (last: Page<Run>) => last.nextCursor,
  });
}

export function runQuery(runId: string) {
  return queryOptions<RunDetail>({
    queryKey: ["run", runId],
    queryFn: ({ signal }) =>
      unwrap(http.GET("/api/v1/runs/{run_id}", { params: { path: { run_id: runId } }, signal })),
  });
}

export function startRun(kind: string, input: Record<string, unknown>): Promise<Run> {
  return unwrap(http.POST("/api/v1/runs", { body: { kind, input } }));
}

/** A run that shows every feature: steps, a retry, a child run and a question. */
export function startSelfTest(): Promise<Run> {
  return startRun("self_test", { ask: true, child: true, step_ms: 400 });
}

export function cancelRun(runId: string): Promise<Run> {
  return unwrap(http.POST("/api/v1/runs/{run_id}/cancel", { params: { path: { run_id: runId } } }));
}

export const allRuns = (pages: RunPages): Run[] => pages.pages.flatMap((page) => page.items);

/**
 * Update the loaded pages of a list after a run changed: replace it, insert it, or remove it if it no longer matches.
 */
export function withRun(list: RunPages, filter: RunFilter, changed: Run): RunPages {
  const fits =
    (filter.statuses?.includes(changed.status) ?? true) && (filter.kind ?? changed.kind) === changed.kind;
  const isListed = allRuns(list).some((run) => run.id === changed.id);
  if (!isListed) return fits ? withNewRun(list, changed) : list;
  const update = (run: Run) => (run.id !== changed.id ? run : fits ? changed : []);
  return { ...list, pages: list.pages.map((page) => ({ ...page, items: page.items.flatMap(update) })) };
}

/** Insert a run, newest first. A run older than all loaded ones is left to the page that will load it. */
function withNewRun(list: RunPages, added: Run): RunPages {
  const isOlder = (run: Run) => Date.parse(run.created_at) <= Date.parse(added.created_at);
  const at = list.pages.findIndex((page) => page.nextCursor === null || page.items.some(isOlder));
  const page = list.pages[at];
  if (!page) return list;
  const place = page.items.findIndex(isOlder);
  const items = page.items.toSpliced(place < 0 ? page.items.length : place, 0, added);
  return { ...list, pages: list.pages.with(at, { ...page, items }) };
}

export function withChild(detail: RunDetail, child: Run): RunDetail {
  const at = detail.children.findIndex((run) => run.id === child.id);
  const children = at < 0 ? [...detail.children, child] : detail.children.with(at, child);
  return { ...detail, children };
}
