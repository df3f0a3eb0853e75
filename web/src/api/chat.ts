/** Chat requests. Each returns immediately; the results arrive on the `session:<id>` stream. */
import { http, unwrap } from "./client";
import type { ChatMessage, ChatTurn } from "./types";

const named = (id: string) => ({ path: { session_id: id } });

export type Question = {
  slug: string;
  text: string;
  /** Omit to start a new conversation. */
  sessionId?: string | undefined;
  /** The message that this one replaces. */
  editsId?: string | undefined;
};

export function ask({ slug, text, sessionId, editsId }: Question): Promise<ChatTurn> {
  const body = {
    text,
    ...(sessionId !== undefined && { session_id: sessionId }),
    ...(editsId !== undefined && { edits_id: editsId }),
  };
  return unwrap<ChatTurn>(http.POST("/api/v1/bots/{bot}/chat", { params: { path: { bot: slug } }, body }));
}

export function stopAnswer(sessionId: string): Promise<ChatMessage> {
  return unwrap<ChatMessage>(http.POST("/api/v1/sessions/{session_id}/stop", { params: named(sessionId) }));
}

/** Request another answer to the same question, as a sibling of the existing one. */
export function retryAnswer(sessionId: string, messageId: string): Promise<ChatTurn> {
  const body = { message_id: messageId };
  return unwrap<ChatTurn>(
    http.POST("/api/v1/sessions/{session_id}/retry", { params: named(sessionId), body }),
  );
}

/** Continue the last answer where it stopped. */
export function resumeAnswer(sessionId: string): Promise<ChatTurn> {
  return unwrap<ChatTurn>(http.POST("/api/v1/sessions/{session_id}/resume", { params: named(sessionId) }));
}
