/** The account's stream, and what it does to lists that are read at the same time. */
import { QueryClient, QueryClientProvider, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { act, renderHook, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { openGatesQuery } from "@/api/gates";
import { LiveClient } from "@/api/live";
import { LiveContext } from "@/api/liveContext";
import { allRuns, runsQuery } from "@/api/runs";
import type { Event, Gate, Run } from "@/api/types";
import { useAccountFeed } from "@/api/useAccountFeed";
import { event, gate, run } from "./events";
import { FakeSocket } from "./fakeSocket";
import { held, serve } from "./server";

const STREAM = "account:a1";
const GATES = "GET /api/v1/gates";
const RUNS = "GET /api/v1/runs";
const opened = (seq: number, one: Gate): Event => event(seq, "gate.changed", { gate: one }, STREAM);
const moved = (seq: number, one: Run): Event => event(seq, "run.changed", { run: one }, STREAM);
const tell = (...events: Event[]) => act(() => FakeSocket.last.say({ type: "events", events }));
const subscribed = () => act(() => FakeSocket.last.say({ type: "subscribed", stream: STREAM, last_seq: 0 }));

/** A page that shows the open questions and all runs, at once or later. */
function follow(isShown = true) {
  FakeSocket.all.length = 0;
  const live = new LiveClient({
    url: "ws://forge/ws",
    open: () => new FakeSocket() as unknown as WebSocket,
    onSignedOut: () => undefined,
  });
  const client = new QueryClient({ defaultOptions: { queries: { retry: false, staleTime: 30_000 } } });
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={client}>
      <LiveContext value={live}>{children}</LiveContext>
    </QueryClientProvider>
  );
  const onGateOpened = () => undefined;
  const { result, rerender } = renderHook(
    ({ enabled }) => {
      useAccountFeed("a1", onGateOpened);
      const runs = useInfiniteQuery({ ...runsQuery({}), enabled }).data;
      return { gates: useQuery({ ...openGatesQuery, enabled }).data, runs: runs && allRuns(runs) };
    },
    { wrapper, initialProps: { enabled: isShown } },
  );
  act(() => FakeSocket.last.accept());
  return { result, client, show: () => rerender({ enabled: true }) };
}

const asked = (requests: Request[], path: string) =>
  requests.filter(({ url }) => new URL(url).pathname === path).length;

test("what happens while a list is read for the first time is in it", async () => {
  const [gates, runs] = [held(), held()];
  serve({ [GATES]: gates.reply, [RUNS]: runs.reply });
  const { result, show } = follow(false);
  const done = run({ status: "completed" });
  subscribed();
  show();
  tell(opened(1, gate()), moved(2, run({ status: "waiting" })), moved(3, done));
  gates.answer({ data: [] });
  runs.answer({ data: [run()] });
  await waitFor(() => expect(result.current).toEqual({ gates: [gate()], runs: [done] }));
});

test("what happens while a list is read again is not undone by it", async () => {
  const old = { [GATES]: { data: [gate()] }, [RUNS]: { data: [run()] } };
  serve(old);
  const { result, client } = follow();
  subscribed();
  await waitFor(() => expect(client.isFetching()).toBe(0));
  const [gates, runs] = [held(), held()];
  serve({ [GATES]: gates.reply, [RUNS]: runs.reply });
  act(() => void client.invalidateQueries());
  const now = { gates: [], runs: [run({ status: "failed" })] };
  tell(opened(1, gate({ status: "answered" })), moved(2, run({ status: "failed" })));
  await waitFor(() => expect(result.current).toEqual(now));
  gates.answer(old[GATES]);
  runs.answer(old[RUNS]);
  await waitFor(() => expect(client.isFetching()).toBe(0));
  expect(result.current).toEqual(now);
});

test("what was being read when the stream began is read once more", async () => {
  const early = held();
  let reply = early.reply;
  const requests = serve({ [GATES]: () => reply(), [RUNS]: { data: [] } });
  const { result } = follow();
  await waitFor(() => expect(asked(requests, "/api/v1/gates")).toBe(1));
  subscribed();
  reply = async () => ({ data: [gate()] });
  early.answer({ data: [] });
  await waitFor(() => expect(result.current.gates).toEqual([gate()]));
  expect(asked(requests, "/api/v1/gates")).toBe(2);
});

test("a run that is on screen is read once more when the stream begins", async () => {
  serve({ [GATES]: { data: [] }, [RUNS]: { data: [] } });
  const { client } = follow();
  client.setQueryData(["run", "r1"], { run: run() });
  subscribed();
  expect(client.getQueryState(["run", "r1"])?.isInvalidated).toBe(true);
});

test("a log that is another one is followed from now, and what was read is read again", async () => {
  const requests = serve({ [GATES]: { data: [] }, [RUNS]: { data: [] } });
  const { result, client } = follow();
  subscribed();
  tell(opened(5, gate()));
  await waitFor(() => expect(client.isFetching()).toBe(0));
  const before = asked(requests, "/api/v1/gates");
  const refusal = { type: "error", stream: STREAM, code: "conflict", message: "", hint: null };
  act(() => FakeSocket.last.say(refusal));
  expect(FakeSocket.last.sent.at(-1)).toEqual({ type: "subscribe", stream: STREAM, after: null });
  subscribed();
  await waitFor(() => expect(asked(requests, "/api/v1/gates")).toBe(before + 1));
  await waitFor(() => expect(result.current.gates).toEqual([]));
  tell(opened(1, gate({ id: "g2" })));
  await waitFor(() => expect(result.current.gates).toEqual([gate({ id: "g2" })]));
});
