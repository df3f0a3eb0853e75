/** Conversations for tests: short to write, true to the schema. */
import type { Bot, ChatMessage, ChatSessionDetail, Event } from "@/api/types";
import { event, time } from "./events";

export const STREAM = "session:s1";

export const question = (id: string, parent: string | null, text = id, more: Partial<ChatMessage> = {}) =>
  message(id, parent, { role: "user", text, ...more });

export const answer = (id: string, parent: string, text = id, more: Partial<ChatMessage> = {}) =>
  message(id, parent, { role: "assistant", text, answer: FACTS, ...more });

export const writing = (id: string, parent: string, text = "") =>
  answer(id, parent, text, { status: "writing", finished_at: null });

export const FACTS: NonNullable<ChatMessage["answer"]> = {
  run_id: "r1",
  model: "demo:talker",
  temperature: 0.7,
  max_tokens: 4096,
  soul_version: 3,
  usage: { input: 400, output: 340, cache_read: 800, cache_write: 0 },
  cost_micros: 4200,
  first_token_ms: 310,
  duration_ms: 3100,
  stop: "end",
  recalled: [],
  skills_used: [],
};

function message(id: string, parent: string | null, more: Partial<ChatMessage>): ChatMessage {
  return {
    id,
    session_id: "s1",
    parent_id: parent,
    role: "user",
    text: "",
    status: "done",
    error: null,
    created_at: time(0),
    finished_at: time(1),
    answer: null,
    siblings: [id],
    ...more,
  };
}

export function session(changes: Partial<ChatSessionDetail> = {}): ChatSessionDetail {
  return {
    id: "s1",
    bot_id: "b1",
    title: "About gardens",
    head_id: "a1",
    is_answering: false,
    messages: 2,
    cost_micros: 0,
    created_at: time(0),
    updated_at: time(0),
    summary: null,
    ...changes,
  };
}

export const asked = (seq: number, question: ChatMessage, answer: ChatMessage): Event =>
  event(seq, "chat.asked", { question, answer }, STREAM);

export const answered = (seq: number, answer: ChatMessage): Event =>
  event(seq, "chat.answered", { answer }, STREAM);

/** A piece of text, whispered. */
export const delta = (id: string, offset: number, text: string, kind: "text" | "thinking" = "text"): Event =>
  ({
    stream: STREAM,
    seq: null,
    at: time(0),
    type: "chat.delta",
    data: { message_id: id, kind, offset, text },
  }) as Event;

export function bot(changes: Partial<Bot> = {}, identity: Partial<Bot["identity"]> = {}): Bot {
  return {
    id: "b1",
    slug: "iris",
    status: "active",
    identity: {
      display_name: "Iris",
      description: "Knows gardens. And more.",
      category: "assistant",
      tags: [],
      temperature: 0.7,
      max_tokens: 4096,
      avatar: "🌱",
      colour: "#e2703a",
      memory: true,
      ...identity,
    },
    created_at: time(0),
    updated_at: time(0),
    last_active_at: null,
    deleted_at: null,
    folder: "/data/bots/iris",
    model: "demo:talker",
    problems: [],
    blocked: null,
    soul_version: 1,
    sessions: 1,
    messages: 2,
    tokens: 0,
    spent_micros: 0,
    answering: 0,
    ...changes,
  } as Bot;
}

type Use = NonNullable<ChatMessage["answer"]>["skills_used"][number];

export const use = (changes: Partial<Use> = {}): Use => ({
  id: "r1:3",
  skill: "weather",
  how: "ran",
  path: null,
  state: "done",
  input: '{"city":"Oslo"}',
  output: '{"celsius":3}',
  duration_ms: 12,
  started_at: time(0),
  ...changes,
});

export const skill = (seq: number, id: string, used: Use): Event =>
  event(seq, "chat.skill", { message_id: id, use: used }, STREAM);
