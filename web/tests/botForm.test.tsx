import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen, waitFor } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { BLANK, changeOf, defaultModel, formOf, mistakesOf, modelOf, newBotOf } from "@/features/bots/form";
import { MemoryForm, NEW } from "@/features/bots/memory/MemoryForm";
import { IdentityForm } from "@/features/bots/settings/IdentityForm";
import { beWide, bot, diff, file, models } from "./bots";
import { serve } from "./server";

vi.mock("@tanstack/react-router", () => ({
  useBlocker: () => ({ status: "idle", proceed: undefined, reset: undefined }),
}));

test("only what was changed is sent, so that the rest of the file stays as it is", () => {
  const before = formOf(bot().identity);
  expect(changeOf(before, before, models)).toEqual({});
  expect(
    changeOf(before, { ...before, tags: " writing,releases ,, releases", memory: false }, models),
  ).toEqual({ memory: false });
  const after = { ...before, name: " Notes ", temperature: "0", model: "local:llama3:8b" };
  expect(changeOf(before, after, models)).toEqual({
    name: "Notes",
    temperature: 0,
    provider: "local",
    model: "llama3:8b",
  });
});

test("going back to the default model takes the provider along", () => {
  const before = formOf(bot({}, { provider: "local", model: "tiny" }).identity);
  expect(before.model).toBe("local:tiny");
  expect(changeOf(before, { ...before, model: "" }, models)).toEqual({ provider: "", model: "" });
});

test("a colon parts provider and model only where there is such a provider", () => {
  const known = ["anthropic", "local"];
  expect(
    ["", "claude", "llama3:8b", "local:llama3:8b", "local:"].map((text) => modelOf(text, known)),
  ).toEqual([
    { provider: "", model: "" },
    { provider: "", model: "claude" },
    { provider: "", model: "llama3:8b" },
    { provider: "local", model: "llama3:8b" },
    { provider: "local", model: "" },
  ]);
});

test("a new bot needs only a name; everything else is the server's default", () => {
  expect(newBotOf({ ...BLANK, name: " Muse " }, models)).toEqual({ name: "Muse" });
  expect(newBotOf({ ...BLANK, name: "Muse", avatar: "🎨", tags: "poems" }, models)).toEqual({
    name: "Muse",
    avatar: "🎨",
    tags: ["poems"],
  });
  expect([defaultModel(models), defaultModel(undefined)]).toEqual([
    "anthropic:claude",
    "from Settings, Models",
  ]);
});

test("mistakes are named where they are", () => {
  expect(mistakesOf(formOf(bot().identity))).toEqual({});
  const wrong = { ...BLANK, name: " ", temperature: "", maxTokens: "1.5", tags: "x".repeat(41) };
  expect(mistakesOf(wrong)).toEqual({
    name: "Enter a name.",
    temperature: "Enter a number from 0 to 2.",
    maxTokens: "Enter a whole number from 1 to 200000.",
    tags: "Tags can have at most 40 characters.",
  });
  expect(Object.keys(mistakesOf({ ...BLANK, name: "a", temperature: "2.1", maxTokens: "0" }))).toEqual([
    "temperature",
    "maxTokens",
  ]);
});

const identity = file("---\ndisplay_name: Release notes\n---\n", { file: "identity" });

function showForm(shown = bot()) {
  beWide();
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const at = (one = shown) => (
    <QueryClientProvider client={client}>
      <IdentityForm bot={one} />
    </QueryClientProvider>
  );
  const { rerender } = render(at());
  return (changed: typeof shown) => rerender(at(changed));
}

test("what nobody touched follows the file; what was touched stays", async () => {
  serve({
    "GET /api/v1/models": { data: models },
    "GET /api/v1/bots/release-notes/identity": { data: identity },
  });
  const change = showForm();
  await userEvent.type(screen.getByLabelText("Description"), " Mine.");
  change(bot({}, { display_name: "Changelog", description: "Theirs." }));
  expect(screen.getByLabelText("Name")).toHaveValue("Changelog");
  expect(screen.getByLabelText("Description")).toHaveValue("Writes them. Mine.");
  await userEvent.click(screen.getByRole("button", { name: "Discard" }));
  expect(screen.getByLabelText("Description")).toHaveValue("Theirs.");
});

test("settings that were changed meanwhile are a choice, and mine can still be saved", async () => {
  let isFirst = true;
  const theirs = { ...identity, content: "other", hash: "hash of other", version: 2 };
  const requests = serve({
    "GET /api/v1/models": { data: models },
    "GET /api/v1/bots/release-notes/identity": { data: identity },
    "PATCH /api/v1/bots/release-notes": () => {
      if (!isFirst) return { data: bot({}, { display_name: "Notes" }) };
      isFirst = false;
      const detail = { current: theirs, theirs: null, yours: diff() };
      return { status: 409, errors: [{ code: "file_changed", message: "Changed.", detail }] };
    },
  });
  showForm();
  await waitFor(() =>
    expect(requests.map(({ url }) => url)).toContainEqual(expect.stringMatching(/identity$/)),
  );
  await userEvent.clear(screen.getByLabelText("Name"));
  await userEvent.type(screen.getByLabelText("Name"), "Notes");
  await userEvent.click(screen.getByRole("button", { name: "Save" }));
  await userEvent.click(await screen.findByRole("button", { name: "Overwrite with mine" }));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  const sent = await Promise.all(
    requests.filter(({ method }) => method === "PATCH").map((one) => one.json()),
  );
  expect(sent).toEqual([
    { name: "Notes", base_hash: identity.hash },
    { name: "Notes", base_hash: "hash of other" },
  ]);
});

test("a memory is written with Enter, and a new line with Shift", async () => {
  const onSubmit = vi.fn();
  render(
    <MemoryForm start={NEW} action="Add" error={null} isBusy={false} onSubmit={onSubmit} cancel={vi.fn()} />,
  );
  expect(screen.getByRole("button", { name: "Add" })).toBeDisabled();
  await userEvent.type(screen.getByLabelText("What the bot should know"), " one{Shift>}{Enter}{/Shift}two ");
  await userEvent.selectOptions(screen.getByLabelText("Importance"), "5");
  await userEvent.type(screen.getByLabelText("What the bot should know"), "{Enter}");
  expect(onSubmit).toHaveBeenCalledExactlyOnceWith({ ...NEW, fact: "one\ntwo", importance: 5 });
});
