import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen, waitFor } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import {
  afterSave,
  begun,
  byPlace,
  type Draft,
  differing,
  isDirty,
  languageOf,
  removed,
  renamed,
  written,
  wrongName,
  wrongPath,
} from "@/features/skills/editor/draft";
import { TryPanel } from "@/features/skills/editor/TryPanel";
import { limitWords } from "@/features/skills/words";
import { serve } from "./server";

const base = { texts: { "SKILL.md": "one", "a.md": "a" }, hash: "h1" };

test("a draft is dirty while it differs from its folder, and a new one until it is saved", () => {
  const draft = begun(base);
  expect(isDirty(draft)).toBe(false);
  expect(isDirty(written(draft, "a.md", "b"))).toBe(true);
  expect(isDirty(written(written(draft, "a.md", "b"), "a.md", "a"))).toBe(false);
  expect(isDirty(removed(draft, "a.md"))).toBe(true);
  expect(isDirty(begun({ ...base, hash: null }))).toBe(true);
});

test("a file that gets another name keeps its text", () => {
  const draft = renamed(begun(base), "a.md", "b/a.md");
  expect(draft.texts).toEqual({ "SKILL.md": "one", "b/a.md": "a" });
  expect(differing(draft.texts, base.texts)).toEqual(["a.md", "b/a.md"]);
});

test("what was typed while it was saved is still to be saved", () => {
  const saved = written(begun(base), "a.md", "saved");
  const typed: Draft = written(saved, "a.md", "saved and more");
  const after = afterSave(typed, saved.texts, "h2");
  expect(after).toEqual({ texts: typed.texts, base: { texts: saved.texts, hash: "h2" } });
  expect(isDirty(after)).toBe(true);
});

test.each([
  ["notes.md", null],
  ["references/style.md", null],
  ["skill.md", "A file with this name already exists."],
  ["/etc/passwd", "Use names separated by slashes"],
  ["../up.md", "Use names separated by slashes"],
  ["a//b.md", "Use names separated by slashes"],
  ["a\\b.md", "Use names separated by slashes"],
  ["a.md/b.md", "One of these folders is a file."],
  ["x".repeat(301), "Paths can have at most 300 characters."],
])("a file called %s: %s", (path, wanted) => {
  const found = wrongPath(path, ["SKILL.md", "a.md"]);
  if (wanted === null) expect(found).toBeNull();
  else expect(found).toContain(wanted);
});

test("files stand in the order in which they matter", () => {
  expect(["tests/a.json", "skill.js", "SKILL.md", "a.md"].sort(byPlace)).toEqual([
    "SKILL.md",
    "a.md",
    "skill.js",
    "tests/a.json",
  ]);
  expect(["SKILL.md", "skill.py", "run.sh", "LICENSE"].map(languageOf)).toEqual([
    "markdown",
    "python",
    "shell",
    "text",
  ]);
});

test.each([
  ["ok-name", true],
  ["Bad", false],
  ["new", true],
  ["_new", false],
  ["a--b", false],
  ["x".repeat(65), false],
])("a skill called %s: %s", (name, isRight) => {
  expect(wrongName(name) === null).toBe(isRight);
});

const COUNTER = {
  "SKILL.md": "---\nname: counter\ndescription: Counts.\n---\n",
  "skill.js": "function run(input) { return {}; }\n",
  "tests/counts.json": '{"name": "counts", "input": {"text": "two words"}, "expect": {"words": 2}}',
};

function show(kind: "script" | "prompt" | "local", texts = COUNTER) {
  const requests = serve({
    "POST /api/v1/skills/try": {
      data: {
        id: "r",
        skill: "counter",
        version: "0.1.0",
        end: "done",
        error: "",
        output: { words: 2 },
        logs: [{ level: "info", message: "counted 2" }],
        capabilities_used: {},
        duration_ms: 3,
        fuel: 1000,
        memory_bytes: 2000,
        cost_micros: 0,
      },
    },
  });
  render(
    <QueryClientProvider client={new QueryClient()}>
      <TryPanel name="counter" texts={texts} kind={kind} />
    </QueryClientProvider>,
  );
  return requests;
}

test("what is on the page is run with the input of its first test, and shows what came of it", async () => {
  const requests = show("script");
  expect(screen.getByLabelText("Input")).toHaveValue('{\n  "text": "two words"\n}');
  await userEvent.click(screen.getByRole("button", { name: /Run/ }));
  expect(await screen.findByText("counted 2")).toBeInTheDocument();
  const sent = await requests[0]?.clone().json();
  expect(sent.input).toEqual({ text: "two words" });
  expect(sent.files["skill.js"]).toContain("function run");
});

test("an input that is no JSON is named with its line, and is not sent", async () => {
  const requests = show("script");
  const input = screen.getByLabelText("Input");
  await userEvent.clear(input);
  await userEvent.type(input, '{{"a": 1,{enter}}');
  await waitFor(() => expect(screen.getByText(/line 2/)).toBeInTheDocument());
  expect(screen.getByRole("button", { name: /Run/ })).toBeDisabled();
  expect(requests).toEqual([]);
});

test("instructions and programs say why they are not run here", () => {
  show("prompt");
  expect(screen.getByText(/Instructions are followed by a bot/)).toBeInTheDocument();
  expect(screen.queryByRole("button", { name: /Run/ })).toBeNull();
});

test("limits are said as the tiers say them", () => {
  expect(limitWords({ memory_bytes: 16 * 2 ** 20, seconds: 10, fuel: 20_000_000_000 })).toBe(
    "16 MB of memory, 10 seconds and 20 billion instructions",
  );
});
