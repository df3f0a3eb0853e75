import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen, waitFor, within } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import type { Event } from "@/api/types";
import { Composer } from "@/features/runs/agent/Composer";
import { foldAgent, SILENT } from "@/features/runs/agent/fold";
import { OpenedContext, useOpenedSet } from "@/features/runs/agent/opened";
import { PieceView } from "@/features/runs/agent/Pieces";
import { asked, began, ended, stepStarted, tool, turn } from "./agentEvents";
import { event } from "./events";
import { held, serve } from "./server";

function Pieces({ events, isOver = false }: { events: Event[]; isOver?: boolean }) {
  const opened = useOpenedSet(() => undefined);
  return (
    <OpenedContext value={opened}>
      {foldAgent(SILENT, events).pieces.map((piece) => (
        <PieceView key={piece.key} piece={piece} isOver={isOver} />
      ))}
    </OpenedContext>
  );
}

const command = (id: string, command: string) => asked(id, "run_tests", { command });

test("a call is one line: what for, what came of it, how well it was locked in, how long it took", () => {
  const detail = { passed: 10, failed: 2, skipped: 0, sandbox: "partial", end: "exited" } as const;
  const used = { name: "run_tests", is_error: true, summary: "10 passed, 2 failed, 0 skipped", detail };
  render(
    <Pieces
      events={[
        turn(1, 1, { tools: [command("a", "pytest -q")] }),
        tool(2, 1, "a", { ...used, duration_ms: 3200 }),
      ]}
    />,
  );
  const line = screen.getByRole("button", { name: /run_tests/ });
  expect(line).toHaveTextContent(
    /^failedrun_testspytest -q\s*2 failed, 10 passed\s*partly isolated\s*3\.2s$/,
  );
  expect(line).toHaveAttribute("aria-expanded", "false");
});

test("unfolded it has all that went in and came out, to be copied", async () => {
  const input = { path: "app.py", content: "one\ntwo" };
  const events = [
    turn(1, 1, { tools: [asked("a", "write_file", input)] }),
    tool(2, 1, "a", { name: "write_file", summary: "app.py, made, 8 bytes", text: "made app.py" }),
  ];
  render(<Pieces events={events} />);
  await userEvent.click(screen.getByRole("button", { name: /write_file/ }));
  expect(screen.getByRole("region", { name: /^Input of/ }).textContent).toBe(
    "path: app.py\ncontent:\none\ntwo",
  );
  expect(screen.getByRole("region", { name: /^Output of/ }).textContent).toBe("made app.py");
  expect(screen.getByRole("button", { name: "Copy output" })).toBeInTheDocument();
});

test.each([
  ["queued", false, []],
  ["running", false, [stepStarted(2, 3, "run_tests")]],
  ["stopped", true, [stepStarted(2, 3, "run_tests")]],
])("a call without a result %s", (word, isOver, events) => {
  const asking = turn(1, 1, { tools: [command("a", "pytest")] });
  render(<Pieces isOver={isOver} events={[asking, ...events]} />);
  expect(screen.getByRole("button", { name: new RegExp(`^${word}`) })).toBeInTheDocument();
});

test("what a model says is text, whatever it looks like", async () => {
  const text = "<img src=x onerror=alert(1)> [link](javascript:alert(1))";
  const { container } = render(<Pieces events={[turn(1, 1, { text })]} />);
  await waitFor(() => expect(container.querySelector(".whitespace-pre-wrap")).toBeNull());
  expect(container.querySelector("img, a, script")).toBeNull();
  expect(screen.getByText(text)).toBeInTheDocument();
});

test("code, headings and lists of a model are set as such", async () => {
  const text =
    "## Why\n\nTwo things:\n1. `total` is wrong\n2. it is **slow**\n\n```py\ndef f():\n    pass\n```\n- a\n  more of a";
  const { container } = render(<Pieces events={[turn(1, 1, { text })]} />);
  await waitFor(() => expect(container.querySelector("pre")?.textContent).toBe("def f():\n    pass"));
  expect(screen.getAllByRole("listitem").map((item) => item.textContent)).toEqual([
    "total is wrong",
    "it is slow",
    "a\nmore of a",
  ]);
});

test("a thought is folded away until somebody wants it", async () => {
  render(<Pieces events={[turn(1, 1, { thinking: "First.\nSecond." })]} />);
  expect(screen.queryByText(/Second/)).toBeNull();
  await userEvent.click(screen.getByRole("button", { name: /Thought/ }));
  expect(screen.getByText(/Second/)).toBeInTheDocument();
});

test("an answer that was cut off says so", () => {
  render(<Pieces events={[turn(1, 1, { stop: "length" })]} />);
  expect(screen.getByText(/Cut off/)).toBeInTheDocument();
});

test("the end has its reason in words, and what it took", () => {
  render(<Pieces events={[began, ended(9, { end: "loop", turns: 1 })]} />);
  const end = screen.getByRole("region", { name: "End" });
  expect(end).toHaveTextContent("stopped in a loop");
  expect(end).toHaveTextContent("1 turn · 1 tool call · 4.3k tokens · $0.012");
  expect(within(end).getByTitle(/20 received/)).toHaveTextContent("4.3k tokens");
});

test("a call that was written as text is marked", () => {
  render(<Pieces events={[turn(1, 1, { tools: [{ ...command("a", "pytest"), as_text: true }] })]} />);
  expect(screen.getByRole("button", { name: /run_tests/ })).toHaveTextContent("written as text");
});

test("the end of an agent that finished shows its summary and what it did not prove", async () => {
  const { rerender } = render(<Pieces events={[ended(9, { text: "It is **done**.", verified: false })]} />);
  await waitFor(() => expect(screen.getByText("done", { selector: "strong" })).toBeInTheDocument());
  expect(screen.getByRole("region", { name: "End" })).toHaveTextContent("did not verify the result");
  rerender(<Pieces events={[ended(9, { end: "unfinished", text: "I cannot.", verified: null })]} />);
  expect(screen.getByRole("region", { name: "End" })).toHaveTextContent("unfinished");
  expect(screen.queryByText("I cannot.")).toBeNull();
});

test("a test run of Forge is shown with its output, and at the end", async () => {
  const verification = {
    command: "npm test",
    passed: false,
    summary: "1 passed, 2 failed",
    text: "exit code 1",
    duration_ms: 1200,
    detail: {},
  };
  const events = [
    event(8, "agent.verified", { turn: 2, verification }),
    ended(9, { end: "unfinished", verified: true, verification }),
  ];
  render(<Pieces events={events} />);
  const line = screen.getByRole("button", { name: /npm test/ });
  expect(line).toHaveTextContent("not verified");
  await userEvent.click(line);
  expect(screen.getByText("exit code 1")).toBeInTheDocument();
  expect(screen.getByRole("region", { name: "End" })).toHaveTextContent(
    "Forge ran npm test, which did not succeed: 1 passed, 2 failed.",
  );
});

test("a reminder of Forge is shown where the model got it", () => {
  render(<Pieces events={[event(4, "agent.reminded", { turn: 2, text: "Call a tool now." })]} />);
  expect(screen.getByText("reminded the model")).toBeInTheDocument();
  expect(screen.getByText("Call a tool now.")).toBeInTheDocument();
});

test("what a person said stands there with their name", () => {
  const messages = [{ id: "m1", text: "Be quick.", sent_by: "Ada" }];
  render(<Pieces events={[event(4, "agent.heard", { turn: 2, messages })]} />);
  expect(screen.getByText("Ada")).toBeInTheDocument();
  expect(screen.getByText("Be quick.")).toBeInTheDocument();
});

describe("telling it something", () => {
  const onSent = vi.fn();
  const write = () => {
    onSent.mockReset();
    render(
      <QueryClientProvider client={new QueryClient()}>
        <Composer runId="r1" onSent={onSent} />
      </QueryClientProvider>,
    );
    return screen.getByLabelText("Message the agent");
  };

  test("Ctrl+Enter sends it, and the field is empty again", async () => {
    const message = { id: "m1", text: "Be quick.", sent_by: "Ada" };
    const requests = serve({ "POST /api/v1/agents/r1/messages": { status: 201, data: message } });
    const field = write();
    await userEvent.type(field, "  Be quick. {Control>}{Enter}{/Control}");
    await waitFor(() => expect(onSent).toHaveBeenCalledExactlyOnceWith(message));
    expect(await requests[0]?.json()).toEqual({ text: "Be quick." });
    expect(field).toHaveValue("");
  });

  test("what was typed while it was sent is kept", async () => {
    const { reply, answer } = held();
    serve({ "POST /api/v1/agents/r1/messages": reply });
    const field = write();
    await userEvent.type(field, "Be quick.{Control>}{Enter}{/Control} And kind.");
    answer({ status: 201, data: { id: "m1", text: "Be quick.", sent_by: "Ada" } });
    await waitFor(() => expect(onSent).toHaveBeenCalledOnce());
    expect(field).toHaveValue("Be quick. And kind.");
  });

  test("a refusal is said, and what was typed is kept", async () => {
    const errors = [{ code: "conflict", message: "This agent has ended: it is completed." }];
    serve({ "POST /api/v1/agents/r1/messages": { status: 409, errors } });
    const field = write();
    await userEvent.type(field, "Wait!");
    await userEvent.click(screen.getByRole("button", { name: /^Send/ }));
    expect(await screen.findByRole("alert")).toHaveTextContent("This agent has ended");
    expect(field).toHaveValue("Wait!");
    expect(onSent).not.toHaveBeenCalled();
  });

  test("nothing but blanks is not sent", async () => {
    const field = write();
    await userEvent.type(field, "   ");
    expect(screen.getByRole("button", { name: /^Send/ })).toBeDisabled();
  });
});
