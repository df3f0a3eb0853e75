/** Talking to a bot. Each of these returns at once; what comes of it is told in `session:<id>`. */
import { http, unwrap } from "./client";
import type { ChatMessage, ChatTurn } from "./types";

const named = (id: string) => ({ path: { session_id: id } });

export type Question = {
  slug: string;
  text: string;
  /** Without it a new conversation begins. */
  sessionId?: string | undefined;
  /** Say it instead of this message. */
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

/** Another answer to the same question, beside the one there is. */
export function retryAnswer(sessionId: string, messageId: string): Promise<ChatTurn> {
  const body = { message_id: messageId };
  return unwrap<ChatTurn>(
    http.POST("/api/v1/sessions/{session_id}/retry", { params: named(sessionId), body }),
  );
}

/** The last answer, from where it was left. */
export function resumeAnswer(sessionId: string): Promise<ChatTurn> {
  return unwrap<ChatTurn>(http.POST("/api/v1/sessions/{session_id}/resume", { params: named(sessionId) }));
}
