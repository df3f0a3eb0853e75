/** Memories of a bot. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { http, type Page, unwrap, unwrapPage } from "./client";
import type { Memory, MemoryCategory, MemoryMatch, RecallWay } from "./types";

const MEMORIES_A_PAGE = 50;
const MAX_MATCHES = 20;

export type NewMemory = Pick<Memory, "fact" | "category" | "importance" | "is_pinned">;

export function memoriesQuery(slug: string, category: MemoryCategory | null) {
  return infiniteQueryOptions({
    queryKey: ["bot", slug, "memories", category],
    queryFn: ({ signal, pageParam }) => {
      const query = {
        limit: MEMORIES_A_PAGE,
        ...(category && { category }),
        ...(pageParam && { cursor: pageParam }),
      };
      const params = { path: { bot: slug }, query };
      return unwrapPage<Memory>(http.GET("/api/v1/bots/{bot}/memories", { params, signal }));
    },
    initialPageParam: null as string | null,
    getNextPageParam: (last: Page<Memory>) => last.nextCursor,
  });
}

/** The memories that would be sent with a question, best match first. */
export function recallQuery(slug: string, q: string) {
  return queryOptions<MemoryMatch[]>({
    queryKey: ["bot", slug, "memories", "recall", q],
    queryFn: ({ signal }) => {
      const params = { path: { bot: slug }, query: { q, limit: MAX_MATCHES } };
      return unwrap(http.GET("/api/v1/bots/{bot}/memories/recall", { params, signal }));
    },
  });
}

export const recallWayQuery = queryOptions<RecallWay>({
  queryKey: ["recall way"],
  queryFn: ({ signal }) => unwrap(http.GET("/api/v1/memories/way", { signal })),
});

export function addMemory({ slug, ...body }: NewMemory & { slug: string }): Promise<Memory> {
  return unwrap(http.POST("/api/v1/bots/{bot}/memories", { params: { path: { bot: slug } }, body }));
}

export type MemoryChange = Partial<NewMemory> & { slug: string; id: string };

export function changeMemory({ slug, id, ...body }: MemoryChange): Promise<Memory> {
  const params = { path: { bot: slug, memory_id: id } };
  return unwrap(http.PATCH("/api/v1/bots/{bot}/memories/{memory_id}", { params, body }));
}

export function forgetMemory({ slug, id }: { slug: string; id: string }): Promise<Memory> {
  const params = { path: { bot: slug, memory_id: id } };
  return unwrap(http.DELETE("/api/v1/bots/{bot}/memories/{memory_id}", { params }));
}

/** Return the number of deleted memories. */
export async function forgetAllMemories(slug: string): Promise<number> {
  const params = { path: { bot: slug } };
  return (await unwrap(http.DELETE("/api/v1/bots/{bot}/memories", { params }))).memories;
}
