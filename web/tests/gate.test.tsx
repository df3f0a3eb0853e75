import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen, waitFor, within } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { GateCard } from "@/ui/run/GateCard";
import { OpenGates } from "@/ui/run/OpenGates";
import { shortcuts } from "@/ui/shortcuts";
import { gate } from "./events";

const onAnswer = vi.fn();
beforeEach(() => {
  onAnswer.mockReset();
  window.addEventListener("keydown", shortcuts.handle);
});
afterEach(() => window.removeEventListener("keydown", shortcuts.handle));

test("shows everything that is needed to decide", async () => {
  const shown = gate({
    body: "Runs `alembic upgrade`.\n\n- reversible",
    payload: { table: "baskets", is_nullable: true, estimate: { rows: 3 }, files: ["a.py", "b.py"] },
  });
  render(<GateCard gate={shown} isBusy={false} hasKey onAnswer={onAnswer} />);
  expect(screen.getByRole("heading", { name: "Run the migration?" })).toBeInTheDocument();
  expect((await screen.findByText("alembic upgrade")).tagName).toBe("CODE");
  expect(screen.getByRole("listitem")).toHaveTextContent("reversible");
  const facts = screen
    .getAllByRole("term")
    .map((term) => [term.textContent, term.nextElementSibling?.textContent]);
  expect(facts).toEqual([
    ["table", "baskets"],
    ["is nullable", "yes"],
    ["estimate", "rows: 3"],
    ["files", "a.py\nb.py"],
  ]);
});

test("what a run sends is text, whatever it looks like", async () => {
  const body = "<img src=x onerror=alert(1)> [link](javascript:alert(1))";
  const { container } = render(<GateCard gate={gate({ body })} isBusy={false} hasKey onAnswer={onAnswer} />);
  await waitFor(() => expect(container.querySelector(".whitespace-pre-wrap")).toBeNull());
  expect(container.querySelector("img, a")).toBeNull();
  expect(screen.getByText(body)).toBeInTheDocument();
});

test("a button answers with its option", async () => {
  render(<GateCard gate={gate()} isBusy={false} hasKey onAnswer={onAnswer} />);
  await userEvent.click(screen.getByRole("button", { name: "Reject" }));
  expect(onAnswer).toHaveBeenCalledExactlyOnceWith("reject", "");
});

test("a comment goes with the answer", async () => {
  render(<GateCard gate={gate()} isBusy={false} hasKey onAnswer={onAnswer} />);
  await userEvent.click(screen.getByRole("button", { name: "Add a comment" }));
  await userEvent.keyboard(" looks right to me ");
  await userEvent.click(screen.getByRole("button", { name: /Approve/ }));
  expect(onAnswer).toHaveBeenCalledExactlyOnceWith("approve", "looks right to me");
});

test("A takes the first positive answer", async () => {
  render(<GateCard gate={gate()} isBusy={false} hasKey onAnswer={onAnswer} />);
  await userEvent.keyboard("a");
  expect(onAnswer).toHaveBeenCalledExactlyOnceWith("approve", "");
});

test("A does nothing where no answer is a yes, or while one is on its way", async () => {
  const options = [{ id: "ada", label: "Ada", tone: "neutral" as const }];
  const { rerender } = render(
    <GateCard gate={gate({ options })} isBusy={false} hasKey onAnswer={onAnswer} />,
  );
  await userEvent.keyboard("a");
  rerender(<GateCard gate={gate()} isBusy hasKey onAnswer={onAnswer} />);
  await userEvent.keyboard("a");
  expect(onAnswer).not.toHaveBeenCalled();
  expect(screen.getByRole("button", { name: "Reject" })).toBeDisabled();
});

test("of several questions none is answered by a key: each may be unread", async () => {
  const answer = vi.fn(async () => undefined);
  const open = (...ids: string[]) => (
    <QueryClientProvider client={new QueryClient()}>
      <OpenGates gates={ids.map((id) => gate({ id, title: id }))} answer={answer} />
    </QueryClientProvider>
  );
  const keys = (title: string) =>
    within(screen.getByRole("region", { name: `Needs you: ${title}` })).queryAllByText("A");
  const { rerender } = render(open("first", "second"));
  await userEvent.keyboard("a");
  expect(answer).not.toHaveBeenCalled();
  expect([...keys("first"), ...keys("second")]).toEqual([]);
  rerender(open("second"));
  expect(keys("second")).toHaveLength(1);
  await userEvent.keyboard("a");
  await waitFor(() => expect(answer).toHaveBeenCalledOnce());
});

test("who has answered is at the page, not nowhere", async () => {
  const shown = (status: "open" | "answered") => (
    <QueryClientProvider client={new QueryClient()}>
      <main tabIndex={-1}>
        <OpenGates gates={[gate({ status })]} answer={async () => undefined} />
      </main>
    </QueryClientProvider>
  );
  const { rerender } = render(shown("open"));
  await userEvent.click(screen.getByRole("button", { name: "Reject" }));
  rerender(shown("answered"));
  expect(screen.getByRole("main")).toHaveFocus();
});
