import { backoff } from "@/api/backoff";
import { LiveClient } from "@/api/live";
import type { Event as ForgeEvent } from "@/api/types";
import { event, whisper } from "./events";
import { FakeSocket } from "./fakeSocket";

const onSignedOut = vi.fn();
let live: LiveClient;

beforeEach(() => {
  vi.useFakeTimers();
  onSignedOut.mockReset();
  FakeSocket.all.length = 0;
  live = new LiveClient({
    url: "ws://forge/ws",
    open: () => new FakeSocket() as unknown as WebSocket,
    random: () => 1,
    onSignedOut,
  });
});
afterEach(() => {
  live.close();
  vi.useRealTimers();
});

const progress = (seq: number, stream = "run:r1") =>
  event(seq, "run.progress", { done: seq, total: 9, note: "" }, stream);

/** Subscribe and collect the numbers that arrive. */
function follow(stream: string, after: number | "now"): (number | null)[] {
  const seen: (number | null)[] = [];
  live.subscribe(stream, after, { onEvents: (events) => seen.push(...events.map((one) => one.seq)) });
  return seen;
}

const say = (...events: ForgeEvent[]) => FakeSocket.last.say({ type: "events", events });

test("all streams go through one socket, each from where its history ended", () => {
  follow("run:r1", 7);
  follow("account:a1", 3);
  FakeSocket.last.accept();
  expect(FakeSocket.all).toHaveLength(1);
  expect(FakeSocket.last.sent).toEqual([
    { type: "subscribe", stream: "run:r1", after: 7 },
    { type: "subscribe", stream: "account:a1", after: 3 },
  ]);
});

test("a cut line is mended, and asked for exactly what was missed", () => {
  const seen = follow("run:r1", 0);
  FakeSocket.last.accept();
  say(progress(1), progress(2));
  FakeSocket.last.drop(1006);
  expect(live.status).toBe("reconnecting");

  vi.advanceTimersByTime(500);
  expect(FakeSocket.all).toHaveLength(2);
  FakeSocket.last.accept();
  expect(live.status).toBe("live");
  expect(FakeSocket.last.sent).toEqual([{ type: "subscribe", stream: "run:r1", after: 2 }]);
  say(progress(3));
  expect(seen).toEqual([1, 2, 3]);
});

test("what comes twice is delivered once", () => {
  const seen = follow("run:r1", 0);
  FakeSocket.last.accept();
  say(progress(1), progress(2));
  say(progress(1), progress(2), progress(3));
  expect(seen).toEqual([1, 2, 3]);
});

test("a second listener gets what it lacks, the first nothing again", () => {
  const first = follow("run:r1", 0);
  FakeSocket.last.accept();
  say(progress(1), progress(2));
  const second = follow("run:r1", 0);
  expect(FakeSocket.last.sent.at(-1)).toEqual({ type: "subscribe", stream: "run:r1", after: 0 });
  say(progress(1), progress(2), progress(3));
  expect(first).toEqual([1, 2, 3]);
  expect(second).toEqual([1, 2, 3]);
});

test("events go only to those who follow their stream", () => {
  const one = follow("run:r1", 0);
  const two = follow("run:r2", 0);
  FakeSocket.last.accept();
  say(progress(1, "run:r2"));
  expect([one, two]).toEqual([[], [1]]);
});

test("the last one to leave a stream ends its subscription", () => {
  const leaveFirst = live.subscribe("run:r1", 0, { onEvents: () => undefined });
  const leaveSecond = live.subscribe("run:r1", 0, { onEvents: () => undefined });
  FakeSocket.last.accept();
  const unsubscribed = () => FakeSocket.last.sent.filter((message) => message.type === "unsubscribe");
  leaveFirst();
  expect(unsubscribed()).toEqual([]);
  leaveSecond();
  expect(unsubscribed()).toEqual([{ type: "unsubscribe", stream: "run:r1" }]);
});

test("from now on: what was before is skipped, also after a cut", () => {
  const seen = follow("account:a1", "now");
  FakeSocket.last.accept();
  expect(FakeSocket.last.sent.at(-1)).toEqual({ type: "subscribe", stream: "account:a1", after: null });
  FakeSocket.last.say({ type: "subscribed", stream: "account:a1", last_seq: 40 });
  say(progress(1, "account:a1"), progress(40, "account:a1"), progress(41, "account:a1"));
  FakeSocket.last.drop(4408);
  vi.advanceTimersByTime(500);
  FakeSocket.last.accept();
  expect(FakeSocket.last.sent).toEqual([{ type: "subscribe", stream: "account:a1", after: 41 }]);
  expect(seen).toEqual([41]);
});

test("whispers are handed on in their place and leave the cursor alone", () => {
  const seen = follow("run:r1", 0);
  FakeSocket.last.accept();
  say(whisper("a"), progress(1), whisper("b"), progress(2), whisper("c"));
  say(whisper("d"));
  say(whisper("for others", "run:r2"));
  expect(seen).toEqual([null, 1, null, 2, null, null]);
  FakeSocket.last.drop(1006);
  vi.advanceTimersByTime(500);
  FakeSocket.last.accept();
  expect(FakeSocket.last.sent).toEqual([{ type: "subscribe", stream: "run:r1", after: 2 }]);
});

test("before it is known where now is, nobody hears a whisper", () => {
  const seen = follow("account:a1", "now");
  FakeSocket.last.accept();
  say(whisper("early", "account:a1"));
  FakeSocket.last.say({ type: "subscribed", stream: "account:a1", last_seq: 40 });
  say(whisper("late", "account:a1"));
  FakeSocket.last.drop(1006);
  vi.advanceTimersByTime(500);
  FakeSocket.last.accept();
  expect(seen).toEqual([null]);
  expect(FakeSocket.last.sent).toEqual([{ type: "subscribe", stream: "account:a1", after: 40 }]);
});

test("a refused stream is told to its listener and not asked for again", () => {
  const onRefused = vi.fn();
  live.subscribe("run:r9", 0, { onEvents: () => undefined, onRefused });
  FakeSocket.last.accept();
  const refusal = { code: "not_found", message: "There is no stream run:r9.", hint: null };
  FakeSocket.last.say({ type: "error", stream: "run:r9", ...refusal });
  expect(onRefused).toHaveBeenCalledExactlyOnceWith(refusal);
  FakeSocket.last.drop(1006);
  vi.advanceTimersByTime(500);
  FakeSocket.last.accept();
  expect(FakeSocket.last.sent).toEqual([]);
});

test("a session that ended leads to the login and to no new connection", () => {
  follow("run:r1", 0);
  FakeSocket.last.accept();
  FakeSocket.last.drop(4401);
  vi.advanceTimersByTime(60_000);
  expect(onSignedOut).toHaveBeenCalledOnce();
  expect(FakeSocket.all).toHaveLength(1);
});

test.each([4403, 4404])("a socket that is refused with %i is left alone", (code) => {
  follow("run:r1", 0);
  FakeSocket.last.drop(code);
  vi.advanceTimersByTime(60_000);
  expect(FakeSocket.all).toHaveLength(1);
  expect(live.status).toBe("offline");
  expect(onSignedOut).not.toHaveBeenCalled();
});

test("a server that stays away is asked less and less often, and shown as offline", () => {
  follow("run:r1", 0);
  for (let attempt = 0; attempt < 12; attempt++) {
    FakeSocket.last.drop(1006);
    vi.advanceTimersByTime(30_000);
  }
  expect(FakeSocket.all).toHaveLength(13);
  FakeSocket.last.drop(1006);
  expect(live.status).toBe("offline");
  vi.advanceTimersByTime(29_999);
  expect(FakeSocket.all).toHaveLength(13);
});

test("a line that has gone silent is given up", () => {
  follow("run:r1", 0);
  FakeSocket.last.accept();
  vi.advanceTimersByTime(60_000);
  FakeSocket.last.say({ type: "ping" });
  vi.advanceTimersByTime(60_000);
  expect(live.status).toBe("live");
  vi.advanceTimersByTime(10_001);
  expect(live.status).toBe("reconnecting");
});

test("coming back online does not sit out the wait", () => {
  follow("run:r1", 0);
  FakeSocket.last.drop(1006);
  window.dispatchEvent(new Event("online"));
  expect(FakeSocket.all).toHaveLength(2);
});

test("after hanging up nothing is asked for until somebody subscribes", () => {
  follow("run:r1", 0);
  FakeSocket.last.accept();
  live.close();
  vi.advanceTimersByTime(60_000);
  expect(FakeSocket.all).toHaveLength(1);
  follow("run:r2", 0);
  FakeSocket.last.accept();
  expect(FakeSocket.last.sent).toEqual([{ type: "subscribe", stream: "run:r2", after: 0 }]);
});

test("the wait doubles from half a second to half a minute, half of it by chance", () => {
  const longest = [0, 1, 2, 5, 6, 20].map((attempt) => backoff(attempt, () => 1));
  expect(longest).toEqual([500, 1000, 2000, 16_000, 30_000, 30_000]);
  expect(backoff(1, () => 0)).toBe(500);
});
