/** Conversations with a bot: search, read, rename and delete them. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { http, type Page, unwrap, unwrapPage } from "./client";
import type { ChatHit, ChatMessage, ChatSession, ChatSessionDetail } from "./types";

const named = (id: string) => ({ path: { session_id: id } });

/** Latest first. The key prefix `["bot", slug, "sessions"]` is invalidated when a conversation changes. */
export function sessionsQuery(slug: string) {
  return infiniteQueryOptions({
    queryKey: ["bot", slug, "sessions"],
    queryFn: ({ signal, pageParam }) => {
      const params = { path: { bot: slug }, query: pageParam ? { cursor: pageParam } : {} };
      return unwrapPage<ChatSession>(http.GET("/api/v1/bots/{bot}/sessions", { params, signal }));
    },
    initialPageParam: null as string | null,
    getNextPageParam: (last: Page<ChatSession>) => last.nextCursor,
  });
}

export function searchMessagesQuery(slug: string, words: string) {
  return queryOptions<ChatHit[]>({
    queryKey: ["bot", slug, "sessions", "search", words],
    queryFn: ({ signal }) => {
      const params = { path: { bot: slug }, query: { q: words } };
      return unwrap(http.GET("/api/v1/bots/{bot}/search", { params, signal }));
    },
    placeholderData: keepPreviousData,
  });
}

/** Read a conversation and its shown branch. */
export async function readConversation(
  id: string,
  signal: AbortSignal,
): Promise<{ session: ChatSessionDetail; messages: ChatMessage[] }> {
  const [session, messages] = await Promise.all([
    unwrap<ChatSessionDetail>(http.GET("/api/v1/sessions/{session_id}", { params: named(id), signal })),
    unwrap<ChatMessage[]>(http.GET("/api/v1/sessions/{session_id}/messages", { params: named(id), signal })),
  ]);
  return { session, messages };
}

export function renameSession({ id, title }: { id: string; title: string }): Promise<ChatSession> {
  return unwrap(http.PATCH("/api/v1/sessions/{session_id}", { params: named(id), body: { title } }));
}

/** Show the branch that contains this message. */
export function showBranch({ id, headId }: { id: string; headId: string }): Promise<ChatSession> {
  const body = { head_id: headId };
  return unwrap(http.PATCH("/api/v1/sessions/{session_id}", { params: named(id), body }));
}

export function deleteSession(id: string): Promise<ChatSession> {
  return unwrap(http.DELETE("/api/v1/sessions/{session_id}", { params: named(id) }));
}

/** The download URL of a conversation. */
export const exportAddress = (id: string, format: "markdown" | "json"): string =>
  `/api/v1/sessions/${id}/export?format=${format}`;
