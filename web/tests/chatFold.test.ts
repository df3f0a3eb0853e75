/** A conversation is what was read and what was told, in whatever order the two come. */
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

test("a question, its answer word by word, and its end", () => {
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

test("what was read already may be told again from its beginning", () => {
  const end = foldChat(read(ONE), talk);
  expect(foldChat(read([...end.messages]), talk).messages).toEqual(end.messages);
});

test("messages that did not change stay the same objects, so they are not drawn again", () => {
  const before = foldChat(read(ONE), talk.slice(0, 2));
  const after = foldChat(before, talk.slice(2, 3));
  expect(after.messages[0]).toBe(before.messages[0]);
  expect(after.messages[2]).toBe(before.messages[2]);
  expect(after.messages[3]).not.toBe(before.messages[3]);
});

test("a retry takes the place of the answer, and an edit that of the question", () => {
  const before = read([...ONE, question("q2", "a1"), answer("a2", "q2")]);
  const retry = asked(1, question("q2", "a1"), writing("a3", "q2"));
  expect(ids(foldChat(before, [retry]))).toEqual(["q1", "a1", "q2", "a3"]);
  const edit = asked(1, question("q9", null), writing("a9", "q9"));
  expect(ids(foldChat(before, [edit]))).toEqual(["q9", "a9"]);
});

test("a question on a branch that is not shown has to be read", () => {
  const view = foldChat(read(ONE), [asked(1, question("q7", "elsewhere"), writing("a7", "q7"))]);
  expect([ids(view), view.isStale]).toEqual([["q1", "a1"], true]);
});

test("another branch is shown, as by another tab: it has to be read; another title is only told", () => {
  const { summary: _, ...changed } = session({ title: "New", head_id: "a1" });
  const renamed = foldChat(read(ONE), [event(1, "chat.changed", { session: changed }, STREAM)]);
  expect([renamed.session?.title, renamed.isStale]).toEqual(["New", false]);
  const moved = { ...changed, head_id: "a5" };
  const other = foldChat(read(ONE), [event(1, "chat.changed", { session: moved }, STREAM)]);
  expect(other.isStale).toBe(true);
});

describe("words that are missing", () => {
  const begun = () => foldChat(read(ONE), [talk[0] as Event]);

  test("have to be read, and those behind them are kept until then", () => {
    const gap = foldChat(begun(), [delta("a2", 0, "Good "), delta("a2", 10, "friend"), delta("a2", 16, "!")]);
    expect([textOf(gap, "a2"), gap.isStale]).toEqual(["Good ", true]);
    const filled = withRead(gap, session(), [...ONE, question("q2", "a1"), writing("a2", "q2", "Good de")]);
    expect([textOf(filled, "a2"), filled.isStale]).toEqual(["Good de", true]);
  });

  test("are joined when what was read reaches those that were kept", () => {
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

  test("are not taken away by a read that knows less than was heard", () => {
    const heard = foldChat(begun(), [delta("a2", 0, "Good day.")]);
    const reread = withRead(heard, session(), [...ONE, question("q2", "a1"), writing("a2", "q2", "Good")]);
    expect(textOf(foldChat(reread, [delta("a2", 9, " Sir.")]), "a2")).toBe("Good day. Sir.");
  });

  test("come whole with the end", () => {
    const gap = foldChat(begun(), [delta("a2", 5, "day.")]);
    expect(textOf(foldChat(gap, [talk[3] as Event]), "a2")).toBe("Good day.");
  });

  test("are counted as the server counts them, an emoji as one", () => {
    const view = foldChat(begun(), [delta("a2", 0, "🌱🌱"), delta("a2", 2, "é"), delta("a2", 1, "🌱é")]);
    expect([textOf(view, "a2"), view.isStale]).toEqual(["🌱🌱é", false]);
  });
});

test("a model that is asked again begins again", () => {
  const view = foldChat(read(ONE), [...talk.slice(0, 3), delta("a2", 0, "Hello"), delta("a2", 5, ".")]);
  expect(textOf(view, "a2")).toBe("Hello.");
});

test("who comes in the middle of an answer hears it on", () => {
  const view = read([...ONE, question("q2", "a1"), writing("a2", "q2", "Good ")], { is_answering: true });
  expect(textOf(foldChat(view, talk.slice(2)), "a2")).toBe("Good day.");
});

test("late words of an answer that has ended change nothing, nor do those of another branch", () => {
  const end = foldChat(read(ONE), talk);
  expect(foldChat(end, [delta("a2", 9, " More."), delta("zz", 0, "Who?")])).toEqual(end);
});

test("an answer is resumed where it was left", () => {
  const left = answer("a1", "q1", "Good", { status: "stopped" });
  const resumed = event(1, "chat.resumed", { answer: writing("a1", "q1", "Good") }, STREAM);
  const view = foldChat(read([question("q1", null), left]), [resumed, delta("a1", 4, " day.")]);
  expect([textOf(view, "a1"), view.messages[1]?.status]).toEqual(["Good day.", "writing"]);
});

test("a thought is there until there are words", () => {
  const thinking = [talk[0] as Event, delta("a2", 0, "Hm", "thinking"), delta("a2", 2, "…", "thinking")];
  const view = foldChat(read(ONE), thinking);
  expect(view.draft?.thinking).toBe("Hm…");
  expect(foldChat(view, [delta("a2", 0, "Yes.")]).draft?.thinking).toBe("");
});

test("a summary has to be read; facts are counted once", () => {
  const summarised = { upto_id: "a1", messages: 2, tokens_before: 9, tokens_after: 3 };
  expect(foldChat(read(ONE), [event(1, "chat.summarised", summarised, STREAM)]).isStale).toBe(true);
  const remembered = event(2, "chat.remembered", { facts: [{ id: "m1", fact: "Likes tea." }] }, STREAM);
  expect(foldChat(read(ONE), [remembered, remembered]).kept).toHaveLength(1);
});

test("events of other streams say nothing here", () => {
  const before = read(ONE);
  expect(foldChat(before, [event(1, "run.progress", { done: 1, total: 2, note: "" })])).toBe(before);
});

test("a skill is seen while it runs and when it is done, told once or twice", () => {
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

test("an answer that has ended says itself what it used", () => {
  const ended = answer("a2", "q2", "Cold.", { answer: { ...FACTS, skills_used: [use()] } });
  const view = foldChat(read(ONE), [asked(1, question("q2", "a1"), writing("a2", "q2")), answered(2, ended)]);
  expect(foldChat(view, [skill(3, "a2", use({ id: "late" }))])).toEqual(view);
  expect(foldChat(view, [skill(3, "elsewhere", use())])).toEqual(view);
});
