import { act, renderHook, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { LiveClient } from "@/api/live";
import { LiveContext } from "@/api/liveContext";
import type { Event } from "@/api/types";
import { useStream } from "@/api/useStream";
import { event, whisper } from "./events";
import { FakeSocket } from "./fakeSocket";
import { serve } from "./server";

type Seen = readonly (number | null)[];
const NONE: Seen = [];
const collect = vi.fn((seen: Seen, events: readonly Event[]) => [...seen, ...events.map((one) => one.seq)]);
const progress = (seq: number) => event(seq, "run.progress", { done: seq, total: 9, note: "" });
const say = (...events: Event[]) => FakeSocket.last.say({ type: "events", events });

let live: LiveClient;
beforeEach(() => {
  FakeSocket.all.length = 0;
  collect.mockClear();
  live = new LiveClient({
    url: "ws://forge/ws",
    open: () => new FakeSocket() as unknown as WebSocket,
    onSignedOut: () => undefined,
  });
});

function follow() {
  const wrapper = ({ children }: { children: ReactNode }) => (
    <LiveContext value={live}>{children}</LiveContext>
  );
  return renderHook(() => useStream("run:r1", collect, NONE), { wrapper });
}

test("history comes first, then the tail from where it ended", async () => {
  const requests = serve({ "GET /api/v1/events": { data: [progress(1), progress(2)] } });
  const { result } = follow();
  expect(result.current).toMatchObject({ state: [], phase: "loading", error: null });
  await waitFor(() => expect(result.current.state).toEqual([1, 2]));
  expect(requests.map((request) => new URL(request.url).search)).toEqual([
    "?stream=run%3Ar1&after=0&limit=10000",
  ]);

  FakeSocket.last.accept();
  expect(FakeSocket.last.sent).toEqual([{ type: "subscribe", stream: "run:r1", after: 2 }]);
  act(() => say(progress(3)));
  await waitFor(() => expect(result.current.state).toEqual([1, 2, 3]));
});

test("what arrives within a frame is one fold", async () => {
  serve({ "GET /api/v1/events": { data: [] } });
  const { result } = follow();
  await waitFor(() => expect(result.current.phase).toBe("ready"));
  FakeSocket.last.accept();
  collect.mockClear();
  act(() => {
    for (let seq = 1; seq <= 50; seq++) say(progress(seq));
  });
  await waitFor(() => expect(result.current.state).toHaveLength(50));
  expect(collect).toHaveBeenCalledOnce();
});

test("whispers are folded among the events they come with", async () => {
  serve({ "GET /api/v1/events": { data: [progress(1)] } });
  const { result } = follow();
  await waitFor(() => expect(result.current.phase).toBe("ready"));
  FakeSocket.last.accept();
  act(() => {
    say(whisper("a"));
    say(progress(2), whisper("b"));
  });
  await waitFor(() => expect(result.current.state).toEqual([1, null, 2, null]));
});

test("a history that cannot be read is an error with its hint", async () => {
  const refusal = {
    code: "not_found",
    message: "There is no stream run:r1.",
    hint: "Check the id.",
    field: null,
  };
  serve({ "GET /api/v1/events": { status: 404, errors: [refusal] } });
  const { result } = follow();
  await waitFor(() => expect(result.current.phase).toBe("failed"));
  expect(result.current.error).toMatchObject({ message: refusal.message, hint: refusal.hint });
  expect(result.current.isUnread).toBe(true);
});

test("a log that is shorter than what was seen is another log: start over", async () => {
  let history = [progress(1), progress(2)];
  serve({ "GET /api/v1/events": () => ({ data: history }) });
  const { result } = follow();
  await waitFor(() => expect(result.current.state).toEqual([1, 2]));
  FakeSocket.last.accept();
  history = [progress(1)];
  act(() =>
    FakeSocket.last.say({ type: "error", stream: "run:r1", code: "conflict", message: "", hint: null }),
  );
  await waitFor(() => expect(result.current.state).toEqual([1]));
});

test("leaving the page leaves the stream", async () => {
  serve({ "GET /api/v1/events": { data: [] } });
  const { result, unmount } = follow();
  await waitFor(() => expect(result.current.phase).toBe("ready"));
  FakeSocket.last.accept();
  unmount();
  expect(FakeSocket.last.sent.at(-1)).toEqual({ type: "unsubscribe", stream: "run:r1" });
});
