/** The frame around every page. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from "@tanstack/react-router";
import { render, screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { LiveClient } from "@/api/live";
import { LiveContext } from "@/api/liveContext";
import { Shell } from "@/app/Shell";
import { FakeSocket } from "./fakeSocket";
import { serve } from "./server";

function openShell() {
  serve({ "GET /api/v1/me": { data: { account: { id: "a", name: "ada" }, scopes: [] } } });
  const live = new LiveClient({
    url: "ws://forge/ws",
    open: () => new FakeSocket() as unknown as WebSocket,
    onSignedOut: () => undefined,
  });
  const root = createRootRoute();
  const shell = createRoute({ getParentRoute: () => root, id: "shell", component: Shell });
  const page = createRoute({ getParentRoute: () => shell, path: "/page", component: () => <p>A page</p> });
  const history = createMemoryHistory({ initialEntries: ["/page"] });
  const router = createRouter({ routeTree: root.addChildren([shell.addChildren([page])]), history });
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <LiveContext value={live}>
        <RouterProvider router={router as never} />
      </LiveContext>
    </QueryClientProvider>,
  );
}

test("the way past the sidebar leads to the page, and leaves its address alone", async () => {
  openShell();
  await userEvent.click(await screen.findByRole("link", { name: "Skip to content" }));
  expect(screen.getByRole("main")).toHaveFocus();
  expect(window.location.hash).toBe("");
});
