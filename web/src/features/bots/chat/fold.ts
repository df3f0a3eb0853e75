/**
 * The state of a conversation: the shown branch as it was read, plus all later events. Pure and idempotent, so read
 * data and events may overlap.
 */
import type { ChatMessage, ChatSession, ChatSessionDetail, Event, EventOf } from "@/api/types";
import { begun, type Draft, heard, type Piece, resumed } from "./draft";

type ChatEvent = Extract<Event, { type: `chat.${string}` }>;
type SkillUse = EventOf<"chat.skill">["data"]["use"];
type Retry = EventOf<"chat.retrying">["data"]["retry"];
type Fact = EventOf<"chat.remembered">["data"]["facts"][number];

export type ChatView = {
  session: ChatSessionDetail | null;
  messages: readonly ChatMessage[];
  /** The answer that is being written. */
  draft: Draft | null;
  /** Facts memorized since the page was opened. */
  kept: readonly Fact[];
  /** The last answer that ended while the page was open. */
  ended: ChatMessage | null;
  /** Something was missed or is not part of the events: the conversation must be read again. */
  isStale: boolean;
};

export const NOTHING_SAID: ChatView = {
  session: null,
  messages: [],
  draft: null,
  kept: [],
  ended: null,
  isStale: false,
};

/** Replace the state with what was read, keeping text that was received but not stored yet. */
export function withRead(
  view: ChatView,
  session: ChatSessionDetail,
  messages: readonly ChatMessage[],
): ChatView {
  const writing = messages.findLast(({ status }) => status === "writing");
  const next: ChatView = { ...view, session, messages, draft: null, isStale: false };
  if (!writing) return next;
  const before = view.draft?.id === writing.id ? view.draft : null;
  const said = view.messages.find(({ id }) => id === writing.id)?.text ?? "";
  const { draft, text } = resumed(before, said, begun(writing), writing.text);
  return { ...withText(next, writing.id, text), draft, isStale: draft.ahead !== null };
}

export function foldChat(view: ChatView, events: readonly Event[]): ChatView {
  return events.reduce((next, event) => (isChat(event) ? apply(next, event) : next), view);
}

const isChat = (event: Event): event is ChatEvent => event.type.startsWith("chat.");

function apply(view: ChatView, event: ChatEvent): ChatView {
  switch (event.type) {
    case "chat.asked":
      return asked(view, event.data.question, event.data.answer);
    case "chat.resumed":
      return begin(replaced(view, event.data.answer), event.data.answer);
    case "chat.retrying":
      return withRetry(view, event.data.message_id, event.data.retry);
    case "chat.answered":
      return answered(view, event.data.answer);
    case "chat.skill":
      return used(view, event.data.message_id, event.data.use);
    case "chat.changed":
      return changed(view, event.data.session);
    case "chat.summarised":
      return { ...view, isStale: true };
    case "chat.remembered":
      return remembered(view, event.data.facts);
    case "chat.delta":
      return grown(view, event.data);
    default:
      return unknownEvent(event, view);
  }
}

/** The compiler reports event types missing above; unknown events of a newer server are ignored. */
function unknownEvent(_event: never, view: ChatView): ChatView {
  return view;
}

/** Append to the question's parent; a repeated question stays the parent of both answers. */
function asked(view: ChatView, question: ChatMessage, answer: ChatMessage): ChatView {
  if (has(view, answer.id)) return view;
  const parent = view.messages.findIndex(({ id }) => id === question.parent_id);
  if (question.parent_id !== null && parent < 0) return { ...view, isStale: true };
  const messages = [...view.messages.slice(0, parent + 1), question, answer];
  return begin({ ...view, messages }, answer);
}

function begin(view: ChatView, answer: ChatMessage): ChatView {
  if (!has(view, answer.id)) return view;
  return { ...withAnswering(view, true), draft: begun(answer), ended: null };
}

function answered(view: ChatView, answer: ChatMessage): ChatView {
  if (!has(view, answer.id)) return withAnswering(view, false);
  const draft = view.draft?.id === answer.id ? null : view.draft;
  return { ...withAnswering(replaced(view, answer), false), draft, ended: answer };
}

/** In the order in which they started. A finished answer contains its own list. */
function used(view: ChatView, id: string, use: SkillUse): ChatView {
  const message = view.messages.find((one) => one.id === id);
  if (!message?.answer || message.status !== "writing") return view;
  const before = message.answer.skills_used;
  const isKnown = before.some((one) => one.id === use.id);
  const skills_used = isKnown
    ? before.map((one) => (one.id === use.id && one.state === "running" ? use : one))
    : [...before, use];
  return replaced(view, { ...message, answer: { ...message.answer, skills_used } });
}

/** Another branch is shown; its messages are not in the event and must be read. */
function changed(view: ChatView, session: ChatSession): ChatView {
  const next = { ...view, session: view.session && { ...view.session, ...session } };
  return session.head_id === (view.messages.at(-1)?.id ?? null) ? next : { ...next, isStale: true };
}

function remembered(view: ChatView, facts: readonly Fact[]): ChatView {
  const known = new Set(view.kept.map(({ id }) => id));
  return { ...view, kept: [...view.kept, ...facts.filter(({ id }) => !known.has(id))] };
}

/** Ignore pieces of answers that ended or are not on this branch. */
function grown(view: ChatView, piece: Piece): ChatView {
  const message = view.messages.find(({ id }) => id === piece.message_id);
  if (!message || view.draft?.id !== message.id) return view;
  const { draft, text } = heard(view.draft, message.text, piece);
  const answering = message.answer?.retry ? withRetry(view, message.id, null) : view;
  const next = text === message.text ? answering : withText(answering, message.id, text);
  return { ...next, draft, isStale: view.isStale || draft.ahead !== null };
}

/** The model did not answer and is asked again later; null when it has begun to answer. */
function withRetry(view: ChatView, id: string, retry: Retry | null): ChatView {
  const message = view.messages.find((one) => one.id === id);
  if (!message?.answer || message.status !== "writing") return view;
  return replaced(view, { ...message, answer: { ...message.answer, retry } });
}

const has = (view: ChatView, id: string): boolean => view.messages.some((message) => message.id === id);

const withAnswering = (view: ChatView, is_answering: boolean): ChatView => ({
  ...view,
  session: view.session && { ...view.session, is_answering },
});

const replaced = (view: ChatView, changed: ChatMessage): ChatView => ({
  ...view,
  messages: view.messages.map((message) => (message.id === changed.id ? changed : message)),
});

const withText = (view: ChatView, id: string, text: string): ChatView => ({
  ...view,
  messages: view.messages.map((message) => (message.id === id ? { ...message, text } : message)),
});
