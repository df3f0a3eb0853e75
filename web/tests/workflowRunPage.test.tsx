import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from "@tanstack/react-router";
import { act, render, screen, waitFor } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { Suspense } from "react";
import { LiveClient } from "@/api/live";
import { LiveContext } from "@/api/liveContext";
import type { Event } from "@/api/types";
import { RunPage } from "@/features/workflows/run/RunPage";
import { event, gate, time } from "./events";
import { FakeSocket } from "./fakeSocket";
import { serve } from "./server";
import { moved, runOf } from "./workflowViews";

const STARTED = [
  event(1, "run.created", { kind: "workflow", title: "digest", parent_id: null }),
  event(2, "run.started", { worker: "w1", attempt: 1 }),
];
const problem = { code: "http_status", message: "It said 503.", hint: "Try later.", retryable: true };

/** The page of run r1: the test is the server, over HTTP and over the live line. */
function open(history: Event[], answers: Parameters<typeof serve>[0] = {}) {
  FakeSocket.all.length = 0;
  vi.stubGlobal("matchMedia", () => ({
    matches: true,
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
  }));
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      unobserve() {}
      disconnect() {}
    },
  );
  const requests = serve({
    "GET /api/v1/workflow-runs/r1": { data: runOf() },
    "GET /api/v1/workflow-runs/r1/steps": { data: [] },
    "GET /api/v1/events": { data: history },
    ...answers,
  });
  const live = new LiveClient({
    url: "ws://forge/ws",
    open: () => new FakeSocket() as unknown as WebSocket,
    onSignedOut: () => undefined,
    random: () => 0,
  });
  const root = createRootRoute();
  const shell = createRoute({ getParentRoute: () => root, id: "shell" });
  const page = createRoute({
    getParentRoute: () => shell,
    path: "/workflows/runs/$runId",
    component: () => (
      <Suspense>
        <RunPage />
      </Suspense>
    ),
  });
  const place = createMemoryHistory({ initialEntries: ["/workflows/runs/r1"] });
  const router = createRouter({
    routeTree: root.addChildren([shell.addChildren([page])]),
    history: place,
  });
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <LiveContext value={live}>
        <RouterProvider router={router as never} />
      </LiveContext>
    </QueryClientProvider>,
  );
  return { requests, place };
}

async function tell(...events: Event[]) {
  const socket = await waitFor(() => FakeSocket.last);
  act(() => {
    socket.accept();
    socket.say({ type: "events", events });
  });
}

test("a question that opens while one looks can be answered at once", async () => {
  const user = userEvent.setup();
  const asked = gate({ payload: { workflow: "digest", workflow_id: "w1", step: "ask", amount: 3 } });
  const { requests } = open(STARTED, { "POST /api/v1/gates/g1/answer": { data: asked } });
  expect(await screen.findByText("running")).toBeInTheDocument();
  await tell(
    event(3, "gate.opened", { gate: asked }),
    event(4, "run.waiting", { reason: "gate", until: null }),
  );
  const card = await screen.findByRole("region", { name: "Needs you: Run the migration?" });
  expect(card).toHaveTextContent("amount");
  expect(card).not.toHaveTextContent("w1");
  await user.click(screen.getByRole("button", { name: "Approve" }));
  await waitFor(() => expect(requests.at(-1)?.method).toBe("POST"));
  expect(await requests.at(-1)?.json()).toMatchObject({ option: "approve", shown_hash: "a".repeat(64) });
});

test("a run that fails says why, and goes on from there as a new run", async () => {
  const user = userEvent.setup();
  const { place } = open([...STARTED, moved(3, "gather", { status: "running", finished_at: null })], {
    "POST /api/v1/workflow-runs/r1/retry": { status: 202, data: { run_id: "r2" } },
    "GET /api/v1/workflow-runs/r2": { data: runOf({ id: "r2", retry_of: "r1" }) },
  });
  expect(await screen.findByRole("button", { name: /Cancel/ })).toBeInTheDocument();
  await tell(
    moved(4, "gather", { status: "failed", finished_at: time(4), error: problem }),
    event(5, "run.failed", { error: problem }),
  );
  expect(await screen.findByRole("region", { name: "Failed" })).toHaveTextContent("It said 503.");
  await user.click(screen.getByRole("button", { name: /Retry from the failed step/ }));
  await waitFor(() => expect(place.location.pathname).toBe("/workflows/runs/r2"));
});

test("a run is done again with what it had, or with something else", async () => {
  const user = userEvent.setup();
  const { requests } = open([...STARTED, event(3, "run.completed", { output: {} })], {
    "POST /api/v1/workflow-runs/r1/rerun": { status: 202, data: { run_id: "r1" } },
    "GET /api/v1/workflows/w1": { status: 404, errors: [{ code: "not_found", message: "Gone." }] },
  });
  await user.click(await screen.findByRole("button", { name: /Run again/ }));
  const topic = await screen.findByRole("textbox", { name: /topic/ });
  expect(topic).toHaveValue("cats");
  await user.clear(topic);
  await user.type(topic, "dogs");
  await user.click(screen.getByRole("button", { name: "Run" }));
  await waitFor(() => expect(requests.some(({ method }) => method === "POST")).toBe(true));
  const sent = requests.find(({ method }) => method === "POST");
  expect(await sent?.json()).toEqual({ use_latest: false, payload: { topic: "dogs", most: 5 } });
});
