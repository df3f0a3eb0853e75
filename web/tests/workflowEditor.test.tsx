import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { useState } from "react";
import { asDefinition, type Definition, type StepType } from "@/features/workflows/definition/model";
import { added } from "@/features/workflows/definition/steps";
import { drawn, isSame, typed, wishOf } from "@/features/workflows/editor/draft";
import { readJson, shownJson } from "@/features/workflows/editor/json";
import { OpenedWorkflow } from "@/features/workflows/editor/OpenedWorkflow";
import { referencesFor } from "@/features/workflows/editor/references";
import { StepPanel } from "@/features/workflows/editor/StepPanel";
import { SettingsPanel } from "@/features/workflows/editor/settings/SettingsPanel";
import { beWide } from "./bots";
import { serve } from "./server";
import { openPage, withoutLayout } from "./workflowPage";
import { DIGEST, workflow } from "./workflowViews";

beforeEach(() => {
  withoutLayout();
  beWide();
});

const LISTS = {
  "GET /api/v1/bots": { data: [] },
  "GET /api/v1/skills": { data: [] },
  "GET /api/v1/secrets": { data: [] },
  "GET /api/v1/workspaces": { data: [] },
  "GET /api/v1/workflows": { data: [] },
};
const READ = { is_usable: true, problems: [], definition: DIGEST, source: "name: digest\n" };

test("a step can refer to inputs, to what is done before it, and to what started the run", () => {
  const texts = (id: string | null) => referencesFor(DIGEST, id).map(({ text }) => text);
  expect(texts("deep")).toEqual(
    expect.arrayContaining(["inputs.topic", "loop.item", "steps.gather.output.body", "trigger"]),
  );
  expect(texts("gather").filter((text) => text.startsWith("steps."))).toEqual([]);
  expect(texts("gather")).not.toContain("loop.item");
  expect(texts(null)).toContain("steps.tell.output.response");
});

test("an answer with a schema can be referred to by its parts", () => {
  const definition: Definition = {
    name: "x",
    steps: [
      {
        id: "ask-it",
        type: "agent",
        config: { type: "agent", bot: "b", prompt: "p", output_schema: { properties: { title: {} } } },
      },
    ],
  };
  expect(referencesFor(definition, null).map(({ text }) => text)).toContain(
    'steps["ask-it"].output.json.title',
  );
});

test.each([
  ["", undefined],
  ["12", 12],
  ['{"a": "{{ inputs.x }}"}', { a: "{{ inputs.x }}" }],
  ["{{ steps.a.output }}", "{{ steps.a.output }}"],
  ["plain words", "plain words"],
  ['"12"', "12"],
])("what is typed as %s means %s, and is shown so that it means the same", (text, value) => {
  expect(readJson(text)).toEqual({ value, problem: null });
  expect(readJson(shownJson(value))).toEqual({ value, problem: null });
});

test("half an object is a mistake and no text", () => {
  expect(readJson('{"a": ').problem).toContain("Invalid JSON");
});

test("the one that was changed last is sent; a definition goes along with the YAML it came from", () => {
  const first = { definition: DIGEST, source: "name: digest # mine\n", ahead: null };
  expect(wishOf(first)).toEqual({ source: first.source });
  const changed = drawn(first, { ...DIGEST, name: "other" });
  expect(wishOf(changed)).toEqual({ source: first.source, definition: { ...DIGEST, name: "other" } });
  expect(isSame(first, drawn(changed, { ...DIGEST }))).toBe(true);
  const written = typed(changed, "name: x\n");
  expect(wishOf(written)).toEqual({ source: "name: x\n" });
  expect(isSame(first, written)).toBe(false);
});

/** The fields that each type has of its own. */
const FIELDS: Record<StepType, string[]> = {
  agent: ["Bot", "Prompt", "Conversation", "Model", "Answer schema"],
  skill: ["Skill", "Input"],
  http: ["Method", "URL", "Accepted status codes", "Maximum response size, in bytes"],
  code: ["Language", "Input"],
  conditional: ["Condition", "Add a step: Then", "Add a step: Else"],
  loop: ["Repeat", "Items", "Add a step: Steps inside", "Maximum iterations", "Parallel iterations"],
  approval: ["Question", "If rejected", "Add a step: Only when rejected", "Decision timeout in seconds"],
  sub_workflow: ["Workflow", "Input"],
  wait: ["Wait", "Seconds"],
  message: ["Send to", "Bot", "Message", "Type", "Wait for a reply"],
  audit: ["Workspace", "Base revision", "FAIL", "ERROR", "WARN"],
};
const COMMON = [
  "Name",
  "Id",
  "Runs in",
  "Only if",
  "Time limit in seconds",
  "Retry",
  "After the last attempt",
];

test.each(Object.entries(FIELDS))(
  "a step of the type %s has a field for all it can say",
  async (type, labels) => {
    serve(LISTS);
    const { definition, id } = added(DIGEST, type as StepType);
    const step = definition.steps.at(-1);
    if (step?.id !== id) throw new Error("The new step is the last one.");
    openPage(
      <StepPanel
        definition={definition}
        step={step}
        problems={[]}
        change={() => undefined}
        select={() => undefined}
      />,
    );
    const panel = await screen.findByRole("region", { name: `Step ${id}` });
    for (const label of [...labels, ...COMMON]) {
      expect(within(panel).getByLabelText(label)).toBeInTheDocument();
    }
  },
);

function Settings({ tell }: { tell: (definition: Definition) => void }) {
  const [definition, setDefinition] = useState(DIGEST);
  const change = (next: Definition) => {
    setDefinition(next);
    tell(next);
  };
  return <SettingsPanel definition={definition} change={change} close={() => undefined} />;
}

test("a schedule, an input and a limit are put into the definition", async () => {
  serve(LISTS);
  const tell = vi.fn<(definition: Definition) => void>();
  openPage(<Settings tell={tell} />);
  await userEvent.selectOptions(await screen.findByLabelText("Add a trigger"), "On a schedule");
  await userEvent.clear(screen.getByLabelText("Schedule"));
  await userEvent.type(screen.getByLabelText("Schedule"), "hourly");
  await userEvent.click(screen.getByRole("button", { name: "Add an input" }));
  await userEvent.type(screen.getByLabelText("Name of input 3"), "city");
  await userEvent.type(screen.getByLabelText("Concurrent runs"), "2");
  const last = tell.mock.lastCall?.[0];
  expect(last?.triggers).toEqual([{ type: "manual" }, { type: "cron", schedule: "hourly" }]);
  expect(last?.inputs).toEqual({ ...DIGEST.inputs, city: { type: "string" } });
  expect(last?.concurrency).toBe(2);
});

const bodyOf = async (requests: Request[], method: string) =>
  Promise.all(
    requests.filter((request) => request.method === method).map((request) => request.clone().json()),
  );

test("what is drawn is saved over the version it was made from; a newer one is a question", async () => {
  const newer = workflow({ number: 4, source: "name: digest # theirs\n" });
  let isRefused = true;
  const requests = serve({
    ...LISTS,
    "POST /api/v1/workflows/read": { data: READ },
    "GET /api/v1/workflows/w1": { data: newer },
    "PUT /api/v1/workflows/w1": () => {
      if (!isRefused) return { data: { ...newer, number: 5 } };
      isRefused = false;
      return { status: 409, errors: [{ code: "conflict", message: "Another version was saved." }] };
    },
  });
  openPage(<OpenedWorkflow workflow={workflow()} />);
  fireEvent.click(await screen.findByRole("button", { name: /^Gather/, hidden: true }));
  const panel = await screen.findByRole("region", { name: "Step Gather" });
  await userEvent.type(within(panel).getByLabelText("Name"), "!");
  expect(screen.getByText("not saved")).toBeInTheDocument();
  await userEvent.click(screen.getByRole("button", { name: /Save/ }));
  await userEvent.click(await screen.findByRole("button", { name: "Overwrite with mine" }));
  expect(await screen.findByText("saved")).toBeInTheDocument();
  const [first, second] = await bodyOf(requests, "PUT");
  expect(first).toMatchObject({ source: "name: digest\n", expected_number: 3 });
  expect(asDefinition(first.definition).steps[0]?.name).toBe("Gather!");
  expect(second).toEqual({ ...first, expected_number: 4 });
});

test("YAML is written by the server, and only when the canvas is ahead of it", async () => {
  const requests = serve({
    ...LISTS,
    "POST /api/v1/workflows/read": { data: { ...READ, source: "name: digest # rewritten\n" } },
  });
  openPage(<OpenedWorkflow workflow={workflow()} />);
  await userEvent.click(await screen.findByLabelText("YAML"));
  const yaml = await screen.findByLabelText("Workflow as YAML");
  expect(yaml).toHaveTextContent("name: digest");
  expect(yaml).not.toHaveTextContent("rewritten");
  await userEvent.click(screen.getByLabelText("Canvas"));
  await userEvent.click(await screen.findByRole("button", { name: "Wait" }));
  await userEvent.click(screen.getByLabelText("YAML"));
  await waitFor(() => expect(screen.getByLabelText("Workflow as YAML")).toHaveTextContent("rewritten"));
  const sent = await bodyOf(requests, "POST");
  expect(sent.at(-1)).toMatchObject({ source: "name: digest\n" });
  expect(asDefinition(sent.at(-1).definition).steps.at(-1)).toMatchObject({
    type: "wait",
    depends_on: ["tell"],
  });
});

test("YAML that is no workflow stays YAML, and says why it cannot be drawn", async () => {
  const place = { line: 1, column: 1, path: "", message: "`steps` is missing.", is_warning: false };
  serve({
    ...LISTS,
    "POST /api/v1/workflows/read": {
      data: { ...READ, is_usable: false, definition: null, problems: [place] },
    },
  });
  openPage(<OpenedWorkflow workflow={workflow()} />);
  await userEvent.click(await screen.findByLabelText("YAML"));
  await userEvent.click(await screen.findByLabelText("Workflow as YAML"));
  await userEvent.keyboard("x");
  expect(await screen.findByRole("button", { name: /steps is missing/ })).toBeInTheDocument();
  await userEvent.click(screen.getByLabelText("Canvas"));
  await waitFor(() => expect(screen.getByLabelText("YAML")).toBeChecked());
  expect(screen.getByLabelText("Workflow as YAML")).toBeInTheDocument();
});
