/** A workspace's page: looking through its files. */
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
import { Suspense } from "react";
import { readPlace } from "@/features/workspaces/place";
import { WorkspacePage } from "@/features/workspaces/WorkspacePage";
import { serve } from "./server";

const WORKSPACE = { id: "w1", name: "basket", path: "/srv/basket" };
const PATH = "/api/v1/workspaces/w1";

function open() {
  serve({
    [`GET ${PATH}`]: { data: WORKSPACE },
    [`GET ${PATH}/files`]: { data: [] },
    [`GET ${PATH}/search`]: { data: { matches: [], truncated: false, literal: false } },
  });
  const root = createRootRoute();
  const shell = createRoute({ getParentRoute: () => root, id: "shell" });
  const page = createRoute({
    getParentRoute: () => shell,
    path: "/workspaces/$workspaceId",
    validateSearch: readPlace,
    component: () => (
      <Suspense>
        <WorkspacePage />
      </Suspense>
    ),
  });
  const history = createMemoryHistory({ initialEntries: ["/workspaces/w1"] });
  const router = createRouter({ routeTree: root.addChildren([shell.addChildren([page])]), history });
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  return { history };
}

test("who searches the files may type on, and begin again", async () => {
  open();
  const field = await screen.findByRole("searchbox", { name: "Search files" });
  await userEvent.type(field, "total{Enter}");
  expect(await screen.findByText("No matches for “total”.")).toBeInTheDocument();
  expect(field).toHaveFocus();
  await userEvent.clear(field);
  expect(await screen.findByText("Empty directory.")).toBeInTheDocument();
  await userEvent.keyboard("c");
  expect(field).toHaveValue("c");
});

test("what the address says is in the field, also on the way back", async () => {
  const { history } = open();
  const field = await screen.findByRole("searchbox", { name: "Search files" });
  await userEvent.type(field, "total{Enter}{Escape}");
  await screen.findByText("No matches for “total”.");
  history.back();
  await waitFor(() => expect(field).toHaveValue(""));
  history.forward();
  await waitFor(() => expect(field).toHaveValue("total"));
});
