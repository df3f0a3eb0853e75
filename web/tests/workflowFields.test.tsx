import { screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { useState } from "react";
import { ImportSoul } from "@/features/forge/start/ImportSoul";
import { type Config, type Definition, stepOf } from "@/features/workflows/definition/model";
import { StepPanel } from "@/features/workflows/editor/StepPanel";
import { SettingsPanel } from "@/features/workflows/editor/settings/SettingsPanel";
import { serve } from "./server";
import { openPage, withoutLayout } from "./workflowPage";
import { DIGEST } from "./workflowViews";

beforeEach(() => {
  withoutLayout();
  serve({
    "GET /api/v1/bots": { data: [] },
    "GET /api/v1/models": { data: null },
    "GET /api/v1/secrets": { data: [] },
  });
});

/** The settings of a workflow; `said` is the definition they made last. */
function openSettings(changes: Partial<Definition> = {}) {
  const said = vi.fn<(definition: Definition) => void>();
  function Settings() {
    const [definition, setDefinition] = useState<Definition>({ ...DIGEST, ...changes });
    const change = (next: Definition) => {
      setDefinition(next);
      said(next);
    };
    return <SettingsPanel definition={definition} change={change} close={() => undefined} />;
  }
  openPage(<Settings />);
  return () => said.mock.lastCall?.[0];
}

test("a limit that is cleared to type another one stays in sight", async () => {
  const said = openSettings({ concurrency: 2 });
  const field = await screen.findByLabelText("Concurrent runs");
  await userEvent.clear(field);
  expect(field).toBeVisible();
  expect(field).toHaveFocus();
  await userEvent.type(field, "7");
  expect(said()?.concurrency).toBe(7);
});

test("a soul that is cleared to paste another one stays in sight", async () => {
  function Import() {
    const [soul, setSoul] = useState("You are calm.");
    return <ImportSoul soul={soul} onChange={setSoul} />;
  }
  openPage(<Import />);
  const field = await screen.findByLabelText("Text of the SOUL.md");
  await userEvent.clear(field);
  expect(field).toBeVisible();
});

/** The panel of one step; what is given back is its config as it was said last. */
function openStep(config: Config) {
  const said = vi.fn<(config: Config | undefined) => void>();
  function Panel() {
    const [step, setStep] = useState({ id: "one", type: config.type, config });
    const change = (next: Definition) => {
      const found = stepOf(next, "one");
      if (found) setStep({ ...found, id: "one" });
      said(found?.config);
    };
    return (
      <StepPanel
        definition={{ name: "x", steps: [step] }}
        step={step}
        problems={[]}
        change={change}
        select={() => undefined}
      />
    );
  }
  openPage(<Panel />);
  return () => said.mock.lastCall?.[0];
}

test("a list with spaces around its lines can be opened", async () => {
  openSettings({ triggers: [{ type: "file_watch", paths: ["/in"], patterns: ["*.csv ", "*.txt\n"] }] });
  expect(await screen.findByLabelText("Patterns")).toHaveValue("*.csv \n*.txt\n");
});

test("a header without a name can be opened", async () => {
  openStep({ type: "http", url: "https://x.example", headers: { "": "lost" } });
  expect(await screen.findByLabelText("Value of header 1")).toHaveValue("lost");
});

test("lines are trimmed where they count, and stay as they are typed", async () => {
  const said = openSettings({ triggers: [{ type: "file_watch", paths: ["/in"] }] });
  const field = await screen.findByLabelText("Patterns");
  await userEvent.type(field, " *.csv{Enter}{Enter}");
  expect(field).toHaveValue(" *.csv\n\n");
  expect(said()?.triggers).toEqual([{ type: "file_watch", paths: ["/in"], patterns: ["*.csv"] }]);
});

test("a status that is none stays, and says so", async () => {
  const said = openStep({ type: "http", url: "https://x.example", expect_status: [200] });
  const field = await screen.findByLabelText("Accepted status codes");
  await userEvent.type(field, "a");
  expect(field).toHaveValue("200a");
  expect(field).toHaveAccessibleDescription(/number from 100 to 599/);
  await userEvent.type(field, "{Backspace}{Enter}404");
  expect(said()).toMatchObject({ expect_status: [200, 404] });
});

test.each(["[]", "small", "{}"])(
  "values of an input that are no list, as %s, stay and say so",
  async (text) => {
    const said = openSettings({ inputs: { size: { type: "string" } } });
    const field = await screen.findByLabelText("Values of size");
    await userEvent.click(field);
    await userEvent.paste(text);
    expect(field).toHaveValue(text);
    expect(field).toHaveAccessibleDescription(/Must be a non-empty JSON list/);
    expect(said()?.inputs?.size?.enum).toBeUndefined();
  },
);

test("a schema that is a word stays, and says so", async () => {
  openStep({ type: "agent", bot: "iris", prompt: "Say it." });
  const field = await screen.findByLabelText("Answer schema");
  await userEvent.type(field, "text");
  expect(field).toHaveValue("text");
  expect(field).toHaveAccessibleDescription(/Must be a JSON object/);
});

test("what a schedule gives is an object, and an empty one stays while it is filled", async () => {
  const said = openSettings({ triggers: [{ type: "cron", schedule: "hourly", inputs: {} }] });
  const field = await screen.findByLabelText("Inputs");
  expect(field).toHaveValue("");
  await userEvent.click(field);
  await userEvent.paste("{}");
  expect(field).toHaveValue("{}");
  await userEvent.clear(field);
  await userEvent.type(field, "word");
  expect(field).toHaveValue("word");
  expect(field).toHaveAccessibleDescription(/Must be a JSON object/);
  await userEvent.clear(field);
  await userEvent.paste('{"a": 1}');
  expect(said()?.triggers).toEqual([{ type: "cron", schedule: "hourly", inputs: { a: 1 } }]);
});

test("a part of a second can be typed", async () => {
  const said = openStep({ type: "wait", seconds: 60 });
  const field = await screen.findByLabelText("Seconds");
  await userEvent.clear(field);
  await userEvent.type(field, "0.05");
  expect(field).toHaveValue("0.05");
  expect(said()).toEqual({ type: "wait", seconds: 0.05 });
});

test("a text that begins like null can be typed", async () => {
  const said = openStep({ type: "message", to: "iris", body: "" });
  await userEvent.type(await screen.findByLabelText("Message"), "nullable");
  expect(said()).toMatchObject({ body: "nullable" });
});

test("what is changed elsewhere takes the place of what was typed", async () => {
  function Trigger() {
    const [definition, setDefinition] = useState<Definition>({ ...DIGEST, inputs: { size: {} } });
    return (
      <>
        <button type="button" onClick={() => setDefinition({ ...DIGEST, inputs: { size: { enum: [1] } } })}>
          Undo
        </button>
        <SettingsPanel definition={definition} change={setDefinition} close={() => undefined} />
      </>
    );
  }
  openPage(<Trigger />);
  await userEvent.type(await screen.findByLabelText("Values of size"), "small");
  await userEvent.click(screen.getByRole("button", { name: "Undo" }));
  expect(screen.getByLabelText("Values of size")).toHaveValue("[\n  1\n]");
});
