/** Messages between bots, workflows and people. */
import { infiniteQueryOptions, type QueryClient, queryOptions } from "@tanstack/react-query";
import { accepted, http, type Page, unwrap, unwrapPage } from "./client";
import type { BotMessage, MessageChannel } from "./types";

const MESSAGES_A_PAGE = 50;

/** Newest first; `other` limits them to the messages between two bots. */
export function messagesQuery(slug: string, other: string | null) {
  return infiniteQueryOptions({
    queryKey: ["bot", slug, "messages", other],
    queryFn: ({ signal, pageParam }) => {
      const query = {
        bot: slug,
        limit: MESSAGES_A_PAGE,
        ...(other && { with: other }),
        ...(pageParam && { cursor: pageParam }),
      };
      return unwrapPage<BotMessage>(http.GET("/api/v1/messages", { params: { query }, signal }));
    },
    initialPageParam: null as string | null,
    getNextPageParam: (last: Page<BotMessage>) => last.nextCursor,
  });
}

type Letter = { to: string; body: string; messageType: string };

/** Send as the signed-in person. The reply arrives as a separate message. */
export async function sendMessage({ to, body, messageType }: Letter): Promise<BotMessage> {
  const letter = { to, body, message_type: messageType, wait: false, timeout_secs: 30 };
  return (await unwrap(http.POST("/api/v1/messages", { body: letter }))).message;
}

export const channelsQuery = queryOptions<MessageChannel[]>({
  queryKey: ["message-channels"],
  queryFn: ({ signal }) => unwrap(http.GET("/api/v1/message-channels", { signal })),
});

type Listener = { name: string; bot: string };

/** The first subscription creates the channel. */
export async function listenTo(path: Listener): Promise<void> {
  await accepted(http.PUT("/api/v1/message-channels/{name}/bots/{bot}", { params: { path } }));
}

export async function stopListening(path: Listener): Promise<void> {
  await accepted(http.DELETE("/api/v1/message-channels/{name}/bots/{bot}", { params: { path } }));
}

/** Invalidate everything that shows messages. */
export function refreshMessages(cache: QueryClient): void {
  void cache.invalidateQueries({
    predicate: ({ queryKey: [of, , what] }) => of === "bot" && what === "messages",
  });
  void cache.invalidateQueries({ queryKey: channelsQuery.queryKey });
}
