import { useCallback, useEffect, useState } from "react";
import { type Answer, type Envelope, http, unwrap } from "./client";
import { isAnotherLog } from "./live";
import { useLive } from "./liveContext";
import type { Event } from "./types";

export type StreamView<State> = {
  state: State;
  phase: "loading" | "ready" | "failed";
  /** The history could not be read, so nothing is known. Not the same as an empty history. */
  isUnread: boolean;
  error: unknown;
  retry: () => void;
};

/**
 * The folded state of a stream: its history in one request, then live events, with at most one render per frame. `fold`
 * must be pure; `fold` and `initial` must not change between renders.
 */
export function useStream<State>(
  stream: string,
  fold: (state: State, events: readonly Event[]) => State,
  initial: State,
): StreamView<State> {
  const live = useLive();
  const [view, setView] = useState<Omit<StreamView<State>, "retry" | "isUnread">>({
    state: initial,
    phase: "loading",
    error: null,
  });
  const [round, setRound] = useState(0);
  const startOver = useCallback(() => setRound((current) => current + 1), []);

  // biome-ignore lint/correctness/useExhaustiveDependencies(round): a new round starts over from the history
  useEffect(() => {
    const stop = new AbortController();
    let waiting: Event[] = [];
    let frame = 0;
    let leave: () => void = () => undefined;

    const flush = () => {
      const batch = waiting;
      waiting = [];
      setView((current) => ({ ...current, state: fold(current.state, batch) }));
    };
    const receive = (events: Event[]) => {
      if (waiting.length === 0) frame = requestAnimationFrame(flush);
      waiting = waiting.concat(events);
    };
    const fail = (error: unknown) => {
      if (!stop.signal.aborted) setView((current) => ({ ...current, phase: "failed", error }));
    };
    const start = async () => {
      const history = await readHistory(stream, stop.signal);
      if (stop.signal.aborted) return;
      setView({ state: fold(initial, history), phase: "ready", error: null });
      leave = live.subscribe(stream, history.at(-1)?.seq ?? 0, {
        onEvents: receive,
        onRefused: (refusal) => (isAnotherLog(refusal) ? startOver() : fail(refusal)),
      });
    };

    setView({ state: initial, phase: "loading", error: null });
    start().catch(fail);
    return () => {
      stop.abort();
      cancelAnimationFrame(frame);
      leave();
    };
  }, [live, stream, fold, initial, round, startOver]);

  return { ...view, isUnread: view.phase === "failed" && view.state === initial, retry: startOver };
}

/** The server's maximum page size. */
const HISTORY = 10_000;

/** Read the first page of the log; the subscription replays the rest. */
function readHistory(stream: string, signal: AbortSignal): Promise<Event[]> {
  const query = { stream, after: 0, limit: HISTORY };
  // openapi-fetch drops fields that are only ever null, such as the `seq` of an ephemeral event.
  return unwrap(
    http.GET("/api/v1/events", { params: { query }, signal }) as Promise<Answer<Envelope<Event[]>>>,
  );
}
