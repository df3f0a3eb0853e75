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
import { useState } from "react";
import { Overlays } from "@/app/Overlays";
import type { Overlay } from "@/app/overlay";
import { serve } from "./server";

/** The page of settings on a small screen, with its menu open. */
function openMenu() {
  serve({});
  function Page() {
    const [shown, show] = useState<Overlay | null>("menu");
    return <Overlays shown={shown} show={show} />;
  }
  const root = createRootRoute();
  const route = createRoute({ getParentRoute: () => root, path: "/settings", component: Page });
  const history = createMemoryHistory({ initialEntries: ["/settings"] });
  const router = createRouter({ routeTree: root.addChildren([route]), history });
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
}

test("a link to the page one is on closes the menu", async () => {
  openMenu();
  await userEvent.click(await screen.findByRole("link", { name: "Settings" }));
  expect(screen.queryByRole("dialog")).toBeNull();
});
