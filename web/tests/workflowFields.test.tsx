import { screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { useState } from "react";
import { ImportSoul } from "@/features/forge/start/ImportSoul";
import type { Definition } from "@/features/workflows/definition/model";
import { SettingsPanel } from "@/features/workflows/editor/settings/SettingsPanel";
import { serve } from "./server";
import { openPage, withoutLayout } from "./workflowPage";
import { DIGEST } from "./workflowViews";

beforeEach(() => {
  withoutLayout();
  serve({
    "GET /api/v1/bots": { data: [] },
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
  const field = await screen.findByLabelText("Runs at a time");
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
