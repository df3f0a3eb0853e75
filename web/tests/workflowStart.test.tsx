import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from "@tanstack/react-router";
import { render, screen, waitFor } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { summaryOf } from "@/features/workflows/list/Strip";
import { fits, readShelf, shownOf } from "@/features/workflows/list/shelf";
import { readPair } from "@/features/workflows/page/pair";
import { fieldsOf, readTyped, typedOf } from "@/features/workflows/start/form";
import { StartSaved } from "@/features/workflows/start/StartSaved";
import { nextOf, refOf } from "@/features/workflows/words";
import { time } from "./events";
import { serve } from "./server";
import { card, workflow } from "./workflowViews";

const INPUTS = {
  topic: { type: "string", required: true },
  most: { type: "integer", default: 5 },
  tone: { enum: ["dry", 1, "1"] },
  tags: { type: "array" },
  more: { type: "object" },
  loud: { type: "boolean" },
  extra: {},
} as const;
const inputs = structuredClone(INPUTS) as unknown as Parameters<typeof fieldsOf>[0];
const read = (typed: Record<string, string>) => readTyped(fieldsOf(inputs), typed);

test("what is typed becomes what the type says", () => {
  const typed = {
    topic: "42",
    most: "7",
    tone: '"1"',
    tags: '["a"]',
    more: '{"b": 1}',
    loud: "true",
    extra: "plain words",
  };
  expect(read(typed)).toEqual({
    payload: {
      topic: "42",
      most: 7,
      tone: "1",
      tags: ["a"],
      more: { b: 1 },
      loud: true,
      extra: "plain words",
    },
    mistakes: {},
  });
});

test("what is left empty is left out, unless it is needed", () => {
  expect(read({ most: " " })).toEqual({ payload: {}, mistakes: { topic: "Required." } });
});

test("what does not fit says so at its field", () => {
  const { payload, mistakes } = read({ topic: "x", most: "1.5", tags: "{}", more: "[", loud: "maybe" });
  expect(payload).toEqual({ topic: "x" });
  expect(Object.keys(mistakes)).toEqual(["most", "tags", "more", "loud"]);
});

test("the fields begin with what was given, or with what counts otherwise, and read back the same", () => {
  const given = { topic: "7", tone: 1, more: { b: [1] }, extra: 3 };
  const typed = typedOf(inputs, given);
  expect(typed).toMatchObject({ topic: "7", most: "5", tone: "1", tags: "", extra: "3" });
  expect(read({ ...typed })).toEqual({ payload: { ...given, most: 5 }, mistakes: {} });
});

test("an address of the list says what it can and drops the rest", () => {
  expect(readShelf({ q: 7, show: "off", x: 1 })).toEqual({ q: "7", show: "off" });
  expect(readShelf({ show: "all" })).toEqual({ q: undefined, show: undefined });
  expect(readPair({ version: 2, with: "3" })).toEqual({ version: 2, with: undefined });
});

test("a workflow fits when every word is in it, and when it is switched so", () => {
  const found = card({ owner: "iris", triggers: [{ type: "cron", title: "daily at 9am" }] });
  expect(["", "NEWS", "iris daily", "weekly"].map((q) => fits(found, { q }))).toEqual([
    true,
    true,
    true,
    false,
  ]);
  expect([fits(found, { show: "on" }), fits(found, { show: "off" })]).toEqual([true, false]);
});

test("a workflow that waits for somebody is the first that is shown", () => {
  const [one, two, three] = [card({ id: "1" }), card({ id: "2", open_gates: 1 }), card({ id: "3" })];
  expect(shownOf([one, two, three], {})).toEqual([two, one, three]);
});

test("the next run is the earliest of its triggers, and never of one that is off", () => {
  const triggers = [60, 30].map((at) => ({ type: "cron", title: "", next_at: time(at) }) as const);
  expect(nextOf(card({ triggers }))).toBe(time(30));
  expect(nextOf(card({ triggers, is_enabled: false }))).toBeNull();
});

test("a workflow that is called like another page is addressed by its id", () => {
  expect([refOf(card()), refOf(card({ name: "runs" }))]).toEqual(["digest", "w1"]);
});

test("the strip says in words how the last runs went", () => {
  const mark = (id: string, status: "completed" | "failed") => ({
    id,
    status,
    created_at: time(0),
    duration_ms: 5,
  });
  expect(summaryOf([mark("a", "completed"), mark("b", "failed"), mark("c", "completed")])).toBe(
    "The last 3 runs: 2 completed, 1 failed",
  );
});

function open(answers: Parameters<typeof serve>[0]) {
  const requests = serve({ "GET /api/v1/workflows/digest": { data: workflow() }, ...answers });
  const root = createRootRoute();
  const start = createRoute({
    getParentRoute: () => root,
    path: "/",
    component: () => <StartSaved reference="digest" close={() => undefined} />,
  });
  const run = createRoute({
    getParentRoute: () => root,
    path: "/workflows/runs/$runId",
    component: () => <p>the run</p>,
  });
  const history = createMemoryHistory({ initialEntries: ["/"] });
  const router = createRouter({ routeTree: root.addChildren([start, run]), history });
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  return { requests, history };
}

const TRIGGER = "POST /api/v1/workflows/w1/trigger";
const SUBMITTED = {
  run_id: "r9",
  workflow_id: "w1",
  workflow_name: "digest",
  status: "submitted",
  trigger: "manual",
  is_duplicate: false,
};

test("a form asks for the inputs, and leads to the run", async () => {
  const user = userEvent.setup();
  const { requests, history } = open({ [TRIGGER]: { status: 202, data: SUBMITTED } });
  const topic = await screen.findByRole("textbox", { name: /topic/ });
  await user.click(screen.getByRole("button", { name: "Run" }));
  expect(topic).toBeInvalid();
  await user.type(topic, "cats");
  await user.click(screen.getByRole("button", { name: "Run" }));
  await waitFor(() => expect(history.location.pathname).toBe("/workflows/runs/r9"));
  expect(await requests.at(-1)?.json()).toEqual({ topic: "cats", most: 5 });
});

test("what the server refuses about an input is said at its field", async () => {
  const user = userEvent.setup();
  open({
    [TRIGGER]: {
      status: 422,
      errors: [{ code: "invalid", message: "inputs.topic: It is too short.", field: "inputs.topic" }],
    },
  });
  const topic = await screen.findByRole("textbox", { name: /topic/ });
  await user.type(topic, "c");
  await user.click(screen.getByRole("button", { name: "Run" }));
  expect(await screen.findByText("It is too short.")).toBeInTheDocument();
  expect(topic).toBeInvalid();
  expect(screen.queryByRole("alert")).not.toBeInTheDocument();
});

test("the form and the JSON say the same", async () => {
  const user = userEvent.setup();
  const { requests } = open({ [TRIGGER]: { status: 202, data: SUBMITTED } });
  await user.type(await screen.findByRole("textbox", { name: /topic/ }), "cats");
  await user.click(screen.getByRole("radio", { name: "JSON" }));
  const text = screen.getByRole("textbox", { name: "Input" });
  expect(JSON.parse((text as HTMLTextAreaElement).value)).toEqual({ topic: "cats", most: 5 });
  await user.clear(text);
  await user.type(text, '{{"topic": "dogs", "also": 1}');
  await user.click(screen.getByRole("button", { name: "Run" }));
  await waitFor(() => expect(requests.at(-1)?.method).toBe("POST"));
  expect(await requests.at(-1)?.json()).toEqual({ topic: "dogs", also: 1 });
});

test("JSON that is none is not left for the form", async () => {
  const user = userEvent.setup();
  open({});
  await user.click(await screen.findByRole("radio", { name: "JSON" }));
  const text = screen.getByRole("textbox", { name: "Input" });
  await user.clear(text);
  await user.type(text, '{{"topic": ');
  await user.click(screen.getByRole("radio", { name: "Form" }));
  expect(screen.getByRole("radio", { name: "JSON" })).toBeChecked();
  expect(text).toHaveValue('{"topic": ');
  expect(text).toHaveAccessibleDescription(/Invalid JSON/);
});

test("a field that cannot be read is not left for the JSON", async () => {
  const user = userEvent.setup();
  open({});
  const most = await screen.findByRole("textbox", { name: /most/ });
  await user.clear(most);
  await user.type(most, "many");
  await user.click(screen.getByRole("radio", { name: "JSON" }));
  expect(screen.getByRole("radio", { name: "Form" })).toBeChecked();
  expect(most).toHaveValue("many");
  expect(most).toHaveAccessibleDescription("Must be a whole number.");
});

test("what is not declared goes along from the JSON, through the form and back", async () => {
  const user = userEvent.setup();
  const { requests } = open({ [TRIGGER]: { status: 202, data: SUBMITTED } });
  await user.click(await screen.findByRole("radio", { name: "JSON" }));
  const text = screen.getByRole("textbox", { name: "Input" });
  await user.clear(text);
  await user.type(text, '{{"topic": "dogs", "also": 1}');
  await user.click(screen.getByRole("radio", { name: "Form" }));
  expect(screen.getByText("also", { exact: false })).toBeInTheDocument();
  await user.click(screen.getByRole("radio", { name: "JSON" }));
  const again: HTMLTextAreaElement = screen.getByRole("textbox", { name: "Input" });
  expect(JSON.parse(again.value)).toEqual({ topic: "dogs", most: 5, also: 1 });
  await user.click(screen.getByRole("radio", { name: "Form" }));
  await user.click(screen.getByRole("button", { name: "Run" }));
  await waitFor(() => expect(requests.at(-1)?.method).toBe("POST"));
  expect(await requests.at(-1)?.json()).toEqual({ topic: "dogs", most: 5, also: 1 });
});
