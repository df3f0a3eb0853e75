/** The Chat tab on a page of its own: the test is the server, over HTTP and over the live line. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
  useParams,
} from "@tanstack/react-router";
import { act, render, waitFor } from "@testing-library/react";
import { LiveClient } from "@/api/live";
import { LiveContext } from "@/api/liveContext";
import type { Bot, Event } from "@/api/types";
import { ChatTab } from "@/features/bots/chat/ChatTab";
import { STREAM } from "./chatEvents";
import { FakeSocket } from "./fakeSocket";

export function openChat(bot: Bot, path = "/bots/iris/chat/s1") {
  FakeSocket.all.length = 0;
  vi.stubGlobal("matchMedia", () => ({ matches: true }));
  const live = new LiveClient({
    url: "ws://forge/ws",
    open: () => new FakeSocket() as unknown as WebSocket,
    onSignedOut: () => undefined,
    random: () => 0,
  });
  const root = createRootRoute();
  const Page = () => {
    const { sessionId } = useParams({ strict: false }) as { sessionId?: string };
    return <ChatTab bot={bot} sessionId={sessionId} />;
  };
  const chat = createRoute({
    getParentRoute: () => root,
    path: "/bots/$slug/chat/{-$sessionId}",
    component: Page,
  });
  const history = createMemoryHistory({ initialEntries: [path] });
  const router = createRouter({ routeTree: root.addChildren([chat]), history });
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <LiveContext value={live}>
        <RouterProvider router={router as never} />
      </LiveContext>
    </QueryClientProvider>,
  );
  return { history, live };
}

/** The line is open, and the conversation may be followed. */
export async function connect(line = 1): Promise<void> {
  await waitFor(() => expect(FakeSocket.all).toHaveLength(line));
  act(() => {
    FakeSocket.last.accept();
    FakeSocket.last.say({ type: "subscribed", stream: STREAM, last_seq: 0 });
  });
}

export const tell = (...events: Event[]): void => act(() => FakeSocket.last.say({ type: "events", events }));
