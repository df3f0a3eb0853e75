import { render, screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { type Command, CommandPalette, findCommands } from "@/ui/CommandPalette";

const run = vi.fn();
const close = vi.fn();
const command = (label: string, group: string, keywords = ""): Command => ({
  id: label,
  label,
  group,
  keywords,
  run: () => run(label),
});
const COMMANDS = [
  command("Home", "Go to"),
  command("Settings", "Go to"),
  command("Run the self-test", "Runs", "start check"),
  command("Settings: API keys", "Settings", "token"),
];
const labels = (query: string) => findCommands(COMMANDS, query).map(({ label }) => label);

beforeEach(() => {
  run.mockReset();
  close.mockReset();
});

test("without letters everything is there, in its own order", () => {
  expect(labels("")).toEqual(COMMANDS.map(({ label }) => label));
});

test.each([
  ["set", ["Settings", "Settings: API keys"]],
  ["API", ["Settings: API keys"]],
  ["test run", ["Run the self-test"]],
  ["rts", ["Run the self-test"]],
  ["token", ["Settings: API keys"]],
  ["zebra", []],
])("%j finds %j", (query, found) => {
  expect(labels(query)).toEqual(found);
});

test("arrows choose, Enter runs and closes", async () => {
  render(<CommandPalette open onOpenChange={close} commands={COMMANDS} />);
  const field = await screen.findByRole("combobox");
  await userEvent.type(field, "set{ArrowDown}");
  const chosen = screen.getByRole("option", { selected: true });
  expect(chosen).toHaveTextContent("Settings: API keys");
  expect(field).toHaveAttribute("aria-activedescendant", chosen.id);
  await userEvent.keyboard("{Enter}");
  expect(run).toHaveBeenCalledExactlyOnceWith("Settings: API keys");
  expect(close).toHaveBeenCalledWith(false);
});

test("the choice goes round, and back to the first when the letters change", async () => {
  render(<CommandPalette open onOpenChange={close} commands={COMMANDS} />);
  const field = await screen.findByRole("combobox");
  await userEvent.type(field, "{ArrowUp}");
  expect(screen.getByRole("option", { selected: true })).toHaveTextContent("Settings: API keys");
  await userEvent.type(field, "h");
  expect(screen.getByRole("option", { selected: true })).toHaveTextContent("Home");
});

test("Enter on nothing does nothing", async () => {
  render(<CommandPalette open onOpenChange={close} commands={COMMANDS} />);
  await userEvent.type(await screen.findByRole("combobox"), "zebra{Enter}");
  expect(screen.getByText("No matches for “zebra”.")).toBeInTheDocument();
  expect(run).not.toHaveBeenCalled();
});
