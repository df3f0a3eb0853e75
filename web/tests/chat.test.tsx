/** A conversation as a person sees it: asking, reading, stopping, saying it differently. */
import { act, screen, waitFor, within } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import type { ChatMessage } from "@/api/types";
import { answer, answered, asked, bot, delta, question, STREAM, session, writing } from "./chatEvents";
import { connect, openChat, tell } from "./chatPage";
import { event } from "./events";
import { FakeSocket } from "./fakeSocket";
import { serve } from "./server";

const SESSION = "/api/v1/sessions/s1";
let messages: ChatMessage[];

beforeEach(() => {
  sessionStorage.clear();
  messages = [question("q1", null, "Which tree?"), answer("a1", "q1", "A **willow**.")];
});

const served = (more: Parameters<typeof serve>[0] = {}) =>
  serve({
    [`GET ${SESSION}`]: () => ({ data: session() }),
    [`GET ${SESSION}/messages`]: () => ({ data: messages }),
    "GET /api/v1/bots/iris/sessions": { data: [session()] },
    ...more,
  });
const sent = (requests: Request[], method: string, path: string) =>
  requests.filter((one) => one.method === method && new URL(one.url).pathname === path);
const field = () => screen.findByLabelText("Message Iris");
const log = () => screen.findByRole("log", { name: "Messages" });
const turn = (q = "q2", a = "a2") => ({
  session: session(),
  question: question(q, "a1"),
  answer: writing(a, q),
});

test("a model that did not answer says why and when it is asked again", async () => {
  messages.push(question("q2", "a1"), writing("a2", "q2"));
  served();
  openChat(bot());
  await connect();
  await log();
  const problem = { code: "model_fault", message: "Still loading the model.", retryable: true };
  const at = new Date(Date.now() + 60_000).toISOString();
  const retry = { problem, attempt: 2, attempts: 8, at };
  tell(event(5, "chat.retrying", { message_id: "a2", retry }, STREAM));
  expect(await screen.findByText("Still loading the model.")).toBeInTheDocument();
  expect(screen.getByText(/Retrying in/)).toBeInTheDocument();
  expect(screen.getByText("attempt 2 of 8")).toBeInTheDocument();
  tell(delta("a2", 0, "Good day."));
  await waitFor(() => expect(screen.queryByText(/Retrying in/)).toBeNull());
});

describe("writing", () => {
  test("Enter sends, Shift and Enter begin a new line, and the field is empty again", async () => {
    const requests = served({ "POST /api/v1/bots/iris/chat": { status: 201, data: turn() } });
    openChat(bot());
    await connect();
    await log();
    await userEvent.type(await field(), "One{Shift>}{Enter}{/Shift}Two{Enter}");
    await waitFor(async () => expect(await field()).toHaveValue(""));
    const [request] = sent(requests, "POST", "/api/v1/bots/iris/chat");
    expect(await request?.json()).toEqual({ text: "One\nTwo", session_id: "s1" });
  });

  test("nothing but blanks is not sent", async () => {
    const requests = served();
    openChat(bot());
    await userEvent.type(await field(), "  {Enter}");
    expect(screen.getByRole("button", { name: "Send" })).toBeDisabled();
    expect(sent(requests, "POST", "/api/v1/bots/iris/chat")).toEqual([]);
  });

  test("a refusal is said with what to do, and what was typed is kept", async () => {
    const refusal = {
      code: "model_key",
      message: "There is no key for demo.",
      hint: "Run `forge models serve`.",
    };
    served({ "POST /api/v1/bots/iris/chat": { status: 403, errors: [refusal] } });
    openChat(bot());
    await connect();
    await log();
    await userEvent.type(await field(), "Hello{Enter}");
    const alert = await screen.findByRole("alert");
    expect(alert).toHaveTextContent(/There is no key for demo.*Run forge models serve/);
    expect(within(alert).getByRole("link")).toHaveAttribute("href", "/settings/models");
    expect(within(alert).getByRole("button", { name: "Copy details" })).toBeInTheDocument();
    expect(await field()).toHaveValue("Hello");
  });

  test("a refusal is told in its own conversation only", async () => {
    const errors = [{ code: "model_away", message: "The model is away." }];
    served({ "POST /api/v1/bots/iris/chat": { status: 503, errors } });
    openChat(bot());
    await connect();
    await log();
    await userEvent.type(await field(), "Hello{Enter}");
    expect(await screen.findByRole("alert")).toHaveTextContent("The model is away.");
    await userEvent.click(screen.getByText("New"));
    await waitFor(async () => expect(await field()).toHaveValue(""));
    expect(screen.queryByRole("alert")).toBeNull();
  });

  test("what was not sent is there again in its own conversation", async () => {
    served();
    openChat(bot());
    await userEvent.type(await field(), "Half a thou");
    await userEvent.click(screen.getByText("New"));
    await waitFor(async () => expect(await field()).toHaveValue(""));
    await userEvent.click(await screen.findByRole("link", { name: /About gardens/ }));
    await waitFor(async () => expect(await field()).toHaveValue("Half a thou"));
  });

  test("an arrow up in an empty field takes up the last question", async () => {
    const requests = served({ "POST /api/v1/bots/iris/chat": { status: 201, data: turn("q9", "a9") } });
    openChat(bot());
    await connect();
    await log();
    await userEvent.type(await field(), "{ArrowUp}");
    const editor = await screen.findByLabelText("Edit message");
    expect(editor).toHaveValue("Which tree?");
    await userEvent.clear(editor);
    await userEvent.type(editor, "Which bush?{Enter}");
    await waitFor(() => expect(screen.queryByLabelText("Edit message")).toBeNull());
    const [request] = sent(requests, "POST", "/api/v1/bots/iris/chat");
    expect(await request?.json()).toEqual({ text: "Which bush?", session_id: "s1", edits_id: "q1" });
  });

  test("who leaves a question as it was is where they were before", async () => {
    served();
    openChat(bot());
    await connect();
    await log();
    await userEvent.type(await field(), "{ArrowUp}{Escape}");
    expect(await field()).toHaveFocus();
    await userEvent.click(screen.getByRole("button", { name: "Edit and send again" }));
    expect(await screen.findByLabelText("Edit message")).toHaveFocus();
    await userEvent.keyboard("{Escape}");
    expect(screen.getByRole("button", { name: "Edit and send again" })).toHaveFocus();
  });

  test("who has said it differently is at the messages", async () => {
    served({ "POST /api/v1/bots/iris/chat": { status: 201, data: turn("q9", "a9") } });
    openChat(bot());
    await connect();
    await log();
    await userEvent.click(screen.getByRole("button", { name: "Edit and send again" }));
    await userEvent.type(await screen.findByLabelText("Edit message"), "!{Enter}");
    await waitFor(() => expect(screen.queryByLabelText("Edit message")).toBeNull());
    expect(await log()).toHaveFocus();
  });

  test("a first question makes a conversation, and the page goes there", async () => {
    served({ "POST /api/v1/bots/iris/chat": { status: 201, data: turn() } });
    const { history } = openChat(bot(), "/bots/iris/chat");
    await userEvent.click(await screen.findByRole("button", { name: "“Knows gardens”: where do we start?" }));
    await waitFor(() => expect(history.location.pathname).toBe("/bots/iris/chat/s1"));
  });
});

describe("an answer", () => {
  test("appears while it is written, and its end is announced once", async () => {
    served();
    openChat(bot());
    await connect();
    await log();
    tell(asked(1, question("q2", "a1", "And a bush?"), writing("a2", "q2")), delta("a2", 0, "A "));
    expect(await screen.findByRole("button", { name: "Stop" })).toBeInTheDocument();
    tell(delta("a2", 2, "rose"));
    await waitFor(async () => expect(await log()).toHaveTextContent("A rose"));
    expect(screen.getByRole("status")).toBeEmptyDOMElement();
    tell(answered(2, answer("a2", "q2", "A rose.")));
    await waitFor(() => expect(screen.getByRole("status")).toHaveTextContent("Iris has answered."));
    expect(screen.getByRole("button", { name: "Send" })).toBeInTheDocument();
  });

  test("says what it was made with and what it took", async () => {
    served();
    openChat(bot());
    await connect();
    expect(
      await screen.findByText("demo:talker · temp 0.7 · 1.2k in (800 cached) · 340 out · $0.0042 · 3.1s"),
    ).toHaveAttribute("title", expect.stringContaining("340 received (limit 4,096)"));
  });

  test("is stopped with Escape, from the field too", async () => {
    messages = [question("q1", null), writing("a1", "q1", "On and")];
    const requests = served({ [`POST ${SESSION}/stop`]: { data: answer("a1", "q1") } });
    openChat(bot());
    await connect();
    await log();
    await userEvent.type(await field(), "{Escape}");
    await waitFor(() => expect(sent(requests, "POST", `${SESSION}/stop`)).toHaveLength(1));
  });

  test("that was interrupted can be resumed, and one that failed says why and can be tried again", async () => {
    messages = [question("q1", null), answer("a1", "q1", "Half", { status: "interrupted" })];
    const requests = served({ [`POST ${SESSION}/resume`]: { status: 201, data: turn() } });
    openChat(bot());
    await connect();
    expect(await screen.findByText("interrupted")).toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Resume" }));
    await waitFor(() => expect(sent(requests, "POST", `${SESSION}/resume`)).toHaveLength(1));
    const error = { code: "model_away", message: "The model is away.", hint: "Wait.", retryable: true };
    tell(answered(3, answer("a1", "q1", "Half", { status: "failed", error })));
    expect(await screen.findByRole("alert")).toHaveTextContent("The model is away.");
    expect(screen.getByRole("button", { name: "Retry" })).toBeInTheDocument();
  });

  test("has others beside it, one at a time", async () => {
    messages = [question("q1", null), answer("a2", "q1", "Two", { siblings: ["a1", "a2", "a3"] })];
    const requests = served({ [`PATCH ${SESSION}`]: { data: session() } });
    openChat(bot());
    await connect();
    expect(await screen.findByText("2/3")).toBeInTheDocument();
    messages = [question("q1", null), answer("a3", "q1", "Three", { siblings: ["a1", "a2", "a3"] })];
    await userEvent.click(screen.getByRole("button", { name: "Next answer" }));
    expect(await screen.findByText("3/3")).toBeInTheDocument();
    expect(await sent(requests, "PATCH", SESSION)[0]?.json()).toEqual({ head_id: "a3" });
    expect(screen.getByRole("button", { name: "Next answer" })).toBeDisabled();
  });

  test("shows the memories that went along, when somebody wants to know", async () => {
    const facts = answer("x", "y").answer;
    if (!facts) throw new Error("An answer has facts.");
    const recalled = [{ id: "m1", fact: "Has a small garden." }];
    messages = [question("q1", null), answer("a1", "q1", "Yes", { answer: { ...facts, recalled } })];
    served();
    openChat(bot());
    await connect();
    await userEvent.click(await screen.findByText("1 memory"));
    expect(screen.getByText("Has a small garden.")).toBeVisible();
  });
});

test("words that were missed are read again", async () => {
  const requests = served();
  openChat(bot());
  await connect();
  await log();
  messages = [...messages, question("q2", "a1"), writing("a2", "q2", "A red ro")];
  tell(asked(1, question("q2", "a1"), writing("a2", "q2")), delta("a2", 6, "rose"));
  await waitFor(async () => expect(await log()).toHaveTextContent("A red rose"));
  expect(sent(requests, "GET", `${SESSION}/messages`).length).toBeGreaterThan(1);
});

test("a connection that comes back reads what happened meanwhile", async () => {
  served();
  openChat(bot());
  await connect();
  await log();
  messages = [...messages, question("q2", "a1", "Meanwhile?")];
  act(() => FakeSocket.last.drop(1006));
  await connect(2);
  await waitFor(async () => expect(await log()).toHaveTextContent("Meanwhile?"));
});

test("where a summary ends is marked, and it can be read", async () => {
  const summary = { text: "They talked about trees.", upto_id: "a1", created_at: "2026-11-15T12:00:00Z" };
  served({ [`GET ${SESSION}`]: { data: session({ summary }) } });
  openChat(bot());
  await connect();
  await userEvent.click(await screen.findByText("Earlier messages are sent as a summary"));
  expect(screen.getByText("They talked about trees.")).toBeVisible();
});

test("a conversation that is not there says so", async () => {
  const gone = { status: 404, errors: [{ code: "not_found", message: "There is no conversation s1." }] };
  served({ [`GET ${SESSION}`]: gone, [`GET ${SESSION}/messages`]: gone });
  openChat(bot());
  await connect();
  expect(await screen.findByText("There is no conversation s1.")).toBeInTheDocument();
});

test("who cannot be talked to says why, and where that is changed", async () => {
  served();
  openChat(bot({ blocked: "SOUL.md was changed by hand." }));
  await connect();
  expect(await screen.findByText("SOUL.md was changed by hand.")).toBeInTheDocument();
  expect(screen.getByRole("link", { name: "Open files" })).toHaveAttribute("href", "/bots/iris/soul");
  expect(screen.queryByLabelText("Message Iris")).toBeNull();
});

test("conversations are searched, and a found message is one step away", async () => {
  const hit = {
    session_id: "s1",
    session_title: "About gardens",
    message_id: "a1",
    role: "assistant",
    excerpt: "A ⟦willow⟧.",
    created_at: "2026-11-15T12:00:00Z",
  };
  served({ "GET /api/v1/bots/iris/search": { data: [hit] } });
  const { history } = openChat(bot(), "/bots/iris/chat");
  await userEvent.type(await screen.findByRole("searchbox"), "willow");
  expect(await screen.findByText("willow", { selector: "mark" })).toBeInTheDocument();
  await userEvent.click(screen.getByRole("link", { name: /About gardens/ }));
  await connect();
  await waitFor(() => expect(history.location.hash).toBe("#a1"));
  await waitFor(() => expect(document.activeElement).toHaveAttribute("data-id", "a1"));
});

test("a message on another branch is gone to, and its branch is asked for once", async () => {
  const requests = served({
    [`PATCH ${SESSION}`]: () => {
      messages = [question("q1", null), answer("a9", "q1", "Another", { siblings: ["a1", "a9"] })];
      return { data: session() };
    },
  });
  openChat(bot(), "/bots/iris/chat/s1#a9");
  await connect();
  await waitFor(() => expect(document.activeElement).toHaveAttribute("data-id", "a9"));
  expect(sent(requests, "PATCH", SESSION)).toHaveLength(1);
});

test("an address that ends with no message's id is tried once, and the conversation is there", async () => {
  const errors = [{ code: "not_found", message: "There is no message main." }];
  const requests = served({ [`PATCH ${SESSION}`]: { status: 404, errors } });
  openChat(bot(), "/bots/iris/chat/s1#main");
  await connect();
  expect(await log()).toHaveTextContent("A willow.");
  await waitFor(() => expect(sent(requests, "PATCH", SESSION)).toHaveLength(1));
  tell(answered(1, answer("a1", "q1", "An oak.")));
  await waitFor(async () => expect(await log()).toHaveTextContent("An oak."));
  expect(sent(requests, "PATCH", SESSION)).toHaveLength(1);
});

test("a conversation is deleted after a question, and the page begins a new one", async () => {
  const requests = served({ [`DELETE ${SESSION}`]: { data: session() } });
  const { history } = openChat(bot());
  await userEvent.click(await screen.findByRole("button", { name: "Actions for About gardens" }));
  await userEvent.click(await screen.findByRole("menuitem", { name: "Delete" }));
  await userEvent.click(await screen.findByRole("button", { name: "Delete conversation" }));
  await waitFor(() => expect(sent(requests, "DELETE", SESSION)).toHaveLength(1));
  await waitFor(() => expect(history.location.pathname).toBe("/bots/iris/chat"));
});
