/** What a bot remembers: adding to it and changing it, from the keyboard. */
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
import type { Memory } from "@/api/types";
import { MemoryTab } from "@/features/bots/memory/MemoryTab";
import { shortcuts } from "@/ui/shortcuts";
import { time } from "./events";
import { serve } from "./server";

const MEMORIES = "/api/v1/bots/iris/memories";
const memory = {
  id: "m1",
  fact: "Has a small garden.",
  category: "fact",
  importance: 3,
  is_pinned: false,
  session_id: null,
  author: "person",
  recalled: 0,
  created_at: time(0),
} as Memory;

beforeEach(() => window.addEventListener("keydown", shortcuts.handle));
afterEach(() => window.removeEventListener("keydown", shortcuts.handle));

function open() {
  serve({
    [`GET ${MEMORIES}`]: { data: [memory] },
    [`POST ${MEMORIES}`]: { status: 201, data: memory },
    [`PATCH ${MEMORIES}/m1`]: { data: memory },
  });
  const root = createRootRoute();
  const shell = createRoute({ getParentRoute: () => root, id: "shell" });
  const bot = createRoute({ getParentRoute: () => shell, path: "/bots/$slug" });
  const tab = createRoute({ getParentRoute: () => bot, path: "/memory", component: MemoryTab });
  const history = createMemoryHistory({ initialEntries: ["/bots/iris/memory"] });
  const routeTree = root.addChildren([shell.addChildren([bot.addChildren([tab])])]);
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <RouterProvider router={createRouter({ routeTree, history }) as never} />
    </QueryClientProvider>,
  );
}

test.each([["{Escape}"], [" And a willow.{Enter}"]])(
  "who has changed a memory (%s) is at its button",
  async (keys) => {
    open();
    await userEvent.click(await screen.findByRole("button", { name: "Edit" }));
    await userEvent.keyboard(keys);
    await waitFor(() => expect(screen.getByRole("button", { name: "Edit" })).toHaveFocus());
  },
);

test.each([["{Escape}"], ["Has a willow.{Enter}"]])(
  "who has added a memory (%s) is at the button for it",
  async (keys) => {
    open();
    await screen.findByRole("button", { name: "Edit" });
    await userEvent.keyboard("c");
    expect(await screen.findByLabelText("What the bot should know")).toHaveFocus();
    await userEvent.keyboard(keys);
    await waitFor(() => expect(screen.queryByLabelText("What the bot should know")).toBeNull());
    expect(screen.getByRole("button", { name: /^Add/ })).toHaveFocus();
  },
);
