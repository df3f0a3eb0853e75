/** The state of a conversation: the read data and the events, in any order. */
import type { ChatMessage, ChatSessionDetail, Event } from "@/api/types";
import { type ChatView, foldChat, NOTHING_SAID, withRead } from "@/features/bots/chat/fold";
import {
  answer,
  answered,
  asked,
  delta,
  FACTS,
  question,
  STREAM,
  session,
  skill,
  use,
  writing,
} from "./chatEvents";
import { event, time } from "./events";

const read = (messages: ChatMessage[], changes: Partial<ChatSessionDetail> = {}): ChatView =>
  withRead(NOTHING_SAID, session(changes), messages);
const ids = ({ messages }: ChatView) => messages.map(({ id }) => id);
const textOf = ({ messages }: ChatView, id: string) => messages.find((one) => one.id === id)?.text;

const ONE = [question("q1", null), answer("a1", "q1")];
const talk: Event[] = [
  asked(1, question("q2", "a1"), writing("a2", "q2")),
  delta("a2", 0, "Good "),
  delta("a2", 5, "day."),
  answered(2, answer("a2", "q2", "Good day.")),
];

test("a question, its streamed answer, and its end", () => {
  const views = talk.map((_, upto) => foldChat(read(ONE), talk.slice(0, upto + 1)));
  expect(views.map((view) => textOf(view, "a2"))).toEqual(["", "Good ", "Good day.", "Good day."]);
  expect(views.map((view) => view.draft !== null)).toEqual([true, true, true, false]);
  expect(views.map((view) => view.session?.is_answering)).toEqual([true, true, true, false]);
  expect(views.at(-1)?.ended?.id).toBe("a2");
  expect(views.every((view) => !view.isStale)).toBe(true);
});

test("a retry is shown until the model begins to answer", () => {
  const problem = { code: "model_fault", message: "Still loading.", retryable: true };
  const retry = { problem, attempt: 2, attempts: 8, at: time(9) };
  const failed = event(2, "chat.retrying", { message_id: "a2", retry }, STREAM);
  const events = [asked(1, question("q2", "a1"), writing("a2", "q2")), failed, delta("a2", 0, "Good ")];
  const views = events.map((_, upto) => foldChat(read(ONE), events.slice(0, upto + 1)));
  const shown = views.map(({ messages }) => messages.at(-1)?.answer?.retry ?? null);
  expect(shown).toEqual([null, retry, null]);
});

test("told twice is told once", () => {
  const once = foldChat(read(ONE), talk);
  const twice = foldChat(
    read(ONE),
    talk.flatMap((one) => [one, one]),
  );
  expect(twice).toEqual(once);
});

test("events that were already read can be repeated", () => {
  const end = foldChat(read(ONE), talk);
  expect(foldChat(read([...end.messages]), talk).messages).toEqual(end.messages);
});

test("unchanged messages keep their identity", () => {
  const before = foldChat(read(ONE), talk.slice(0, 2));
  const after = foldChat(before, talk.slice(2, 3));
  expect(after.messages[0]).toBe(before.messages[0]);
  expect(after.messages[2]).toBe(before.messages[2]);
  expect(after.messages[3]).not.toBe(before.messages[3]);
});

test("a retry replaces the answer, an edit replaces the question", () => {
  const before = read([...ONE, question("q2", "a1"), answer("a2", "q2")]);
  const retry = asked(1, question("q2", "a1"), writing("a3", "q2"));
  expect(ids(foldChat(before, [retry]))).toEqual(["q1", "a1", "q2", "a3"]);
  const edit = asked(1, question("q9", null), writing("a9", "q9"));
  expect(ids(foldChat(before, [edit]))).toEqual(["q9", "a9"]);
});

test("a question on a hidden branch requires a read", () => {
  const view = foldChat(read(ONE), [asked(1, question("q7", "elsewhere"), writing("a7", "q7"))]);
  expect([ids(view), view.isStale]).toEqual([["q1", "a1"], true]);
});

test("a switch of the branch requires a read; a new title does not", () => {
  const { summary: _, ...changed } = session({ title: "New", head_id: "a1" });
  const renamed = foldChat(read(ONE), [event(1, "chat.changed", { session: changed }, STREAM)]);
  expect([renamed.session?.title, renamed.isStale]).toEqual(["New", false]);
  const moved = { ...changed, head_id: "a5" };
  const other = foldChat(read(ONE), [event(1, "chat.changed", { session: moved }, STREAM)]);
  expect(other.isStale).toBe(true);
});

describe("missing text", () => {
  const begun = () => foldChat(read(ONE), [talk[0] as Event]);

  test("requires a read; later pieces are kept until then", () => {
    const gap = foldChat(begun(), [delta("a2", 0, "Good "), delta("a2", 10, "friend"), delta("a2", 16, "!")]);
    expect([textOf(gap, "a2"), gap.isStale]).toEqual(["Good ", true]);
    const filled = withRead(gap, session(), [...ONE, question("q2", "a1"), writing("a2", "q2", "Good de")]);
    expect([textOf(filled, "a2"), filled.isStale]).toEqual(["Good de", true]);
  });

  test("is joined once the read reaches the kept pieces", () => {
    const gap = foldChat(begun(), [delta("a2", 0, "Good "), delta("a2", 10, "friend"), delta("a2", 16, "!")]);
    const reread = (text: string) =>
      withRead(gap, session(), [...ONE, question("q2", "a1"), writing("a2", "q2", text)]);
    expect([textOf(reread("Good dea"), "a2"), reread("Good dea").isStale]).toEqual(["Good dea", true]);
    expect([textOf(reread("Good dear fri"), "a2"), reread("Good dear fri").isStale]).toEqual([
      "Good dear friend!",
      false,
    ]);
    const on = foldChat(reread("Good dear "), [delta("a2", 17, " Hi.")]);
    expect(textOf(on, "a2")).toBe("Good dear friend! Hi.");
  });

  test("is not removed by an outdated read", () => {
    const heard = foldChat(begun(), [delta("a2", 0, "Good day.")]);
    const reread = withRead(heard, session(), [...ONE, question("q2", "a1"), writing("a2", "q2", "Good")]);
    expect(textOf(foldChat(reread, [delta("a2", 9, " Sir.")]), "a2")).toBe("Good day. Sir.");
  });

  test("is complete with the end event", () => {
    const gap = foldChat(begun(), [delta("a2", 5, "day.")]);
    expect(textOf(foldChat(gap, [talk[3] as Event]), "a2")).toBe("Good day.");
  });

  test("is counted in characters, an emoji as one", () => {
    const view = foldChat(begun(), [delta("a2", 0, "🌱🌱"), delta("a2", 2, "é"), delta("a2", 1, "🌱é")]);
    expect([textOf(view, "a2"), view.isStale]).toEqual(["🌱🌱é", false]);
  });
});

test("a repeated model call starts the text over", () => {
  const view = foldChat(read(ONE), [...talk.slice(0, 3), delta("a2", 0, "Hello"), delta("a2", 5, ".")]);
  expect(textOf(view, "a2")).toBe("Hello.");
});

test("a subscriber in the middle of an answer gets the rest", () => {
  const view = read([...ONE, question("q2", "a1"), writing("a2", "q2", "Good ")], { is_answering: true });
  expect(textOf(foldChat(view, talk.slice(2)), "a2")).toBe("Good day.");
});

test("late pieces of ended answers and other branches are ignored", () => {
  const end = foldChat(read(ONE), talk);
  expect(foldChat(end, [delta("a2", 9, " More."), delta("zz", 0, "Who?")])).toEqual(end);
});

test("a resumed answer continues where it stopped", () => {
  const left = answer("a1", "q1", "Good", { status: "stopped" });
  const resumed = event(1, "chat.resumed", { answer: writing("a1", "q1", "Good") }, STREAM);
  const view = foldChat(read([question("q1", null), left]), [resumed, delta("a1", 4, " day.")]);
  expect([textOf(view, "a1"), view.messages[1]?.status]).toEqual(["Good day.", "writing"]);
});

test("thinking is shown until there is text", () => {
  const thinking = [talk[0] as Event, delta("a2", 0, "Hm", "thinking"), delta("a2", 2, "…", "thinking")];
  const view = foldChat(read(ONE), thinking);
  expect(view.draft?.thinking).toBe("Hm…");
  expect(foldChat(view, [delta("a2", 0, "Yes.")]).draft?.thinking).toBe("");
});

test("a summary requires a read; facts are counted once", () => {
  const summarised = { upto_id: "a1", messages: 2, tokens_before: 9, tokens_after: 3 };
  expect(foldChat(read(ONE), [event(1, "chat.summarised", summarised, STREAM)]).isStale).toBe(true);
  const remembered = event(2, "chat.remembered", { facts: [{ id: "m1", fact: "Likes tea." }] }, STREAM);
  expect(foldChat(read(ONE), [remembered, remembered]).kept).toHaveLength(1);
});

test("events of other streams are ignored", () => {
  const before = read(ONE);
  expect(foldChat(before, [event(1, "run.progress", { done: 1, total: 2, note: "" })])).toBe(before);
});

test("a skill use is shown while running and when done, also if repeated", () => {
  const begun = [asked(1, question("q2", "a1"), writing("a2", "q2")), delta("a2", 0, "I look.")];
  const running = skill(2, "a2", use({ state: "running", output: "", duration_ms: null }));
  const done = skill(3, "a2", use());
  const other = skill(4, "a2", use({ id: "r1:4", how: "opened" }));
  const uses = (...events: Event[]) =>
    foldChat(read(ONE), [...begun, ...events])
      .messages.at(-1)
      ?.answer?.skills_used.map(({ how, state }) => `${how} ${state}`);
  expect(uses(running)).toEqual(["ran running"]);
  expect(uses(running, done, other)).toEqual(["ran done", "opened done"]);
  expect(uses(running, done, running, done, other, other)).toEqual(["ran done", "opened done"]);
  expect(textOf(foldChat(read(ONE), [...begun, running, done]), "a2")).toBe("I look.");
});

test("a finished answer contains its own skill uses", () => {
  const ended = answer("a2", "q2", "Cold.", { answer: { ...FACTS, skills_used: [use()] } });
  const view = foldChat(read(ONE), [asked(1, question("q2", "a1"), writing("a2", "q2")), answered(2, ended)]);
  expect(foldChat(view, [skill(3, "a2", use({ id: "late" }))])).toEqual(view);
  expect(foldChat(view, [skill(3, "elsewhere", use())])).toEqual(view);
});
