import { useCallback, useEffect, useRef, useState } from "react";
import { ApiError } from "@/api/client";
import type { LiveClient } from "@/api/live";
import { useLive } from "@/api/liveContext";
import { readConversation } from "@/api/sessions";
import type { Event } from "@/api/types";
import { type ChatView, foldChat, NOTHING_SAID, withRead } from "./fold";

export type Followed = { view: ChatView; phase: "loading" | "ready" | "failed"; error: unknown };

/** Minimum time between two reads of a stale conversation. */
const PAUSE_MS = 1000;

const UNREAD: Followed = { view: NOTHING_SAID, phase: "loading", error: null };

/** A conversation that follows its live events. Without an ID it is empty. */
export function useConversation(sessionId: string | undefined): Followed & { reload: () => void } {
  const live = useLive();
  const [shown, show] = useState<Followed & { of: string | undefined }>({ ...UNREAD, of: sessionId });
  const follower = useRef<Follower | null>(null);

  useEffect(() => {
    if (sessionId === undefined) return;
    const following = new Follower(live, sessionId, (followed) => show({ ...followed, of: sessionId }));
    follower.current = following;
    following.start();
    return () => {
      follower.current = null;
      following.stop();
    };
  }, [live, sessionId]);

  const reload = useCallback(() => follower.current?.read(), []);
  // Never show the state of a previous conversation as this one.
  return { ...(shown.of === sessionId ? shown : UNREAD), reload };
}

/**
 * Subscribes before reading, so that nothing is missed; events received during a read are applied to its result as
 * well. At most one render per frame.
 */
class Follower {
  readonly #live: LiveClient;
  readonly #sessionId: string;
  readonly #show: (followed: Followed) => void;
  readonly #gone = new AbortController();
  #state: Followed = UNREAD;
  #waiting: Event[] = [];
  #since: Event[] | null = null;
  #isReadAgain = false;
  #frame = 0;
  #timer = 0;
  #readAt = 0;
  #leave: () => void = () => undefined;

  constructor(live: LiveClient, sessionId: string, show: (followed: Followed) => void) {
    this.#live = live;
    this.#sessionId = sessionId;
    this.#show = show;
  }

  start(): void {
    this.#show(this.#state);
    this.#leave = this.#live.subscribe(`session:${this.#sessionId}`, "now", {
      onEvents: (events) => this.#hear(events),
      onSubscribed: () => this.read(),
      onRefused: (refusal) => this.#fail(refusal),
    });
    // Read even without a live connection.
    if (this.#live.status !== "live") this.read();
  }

  stop(): void {
    this.#gone.abort();
    cancelAnimationFrame(this.#frame);
    window.clearTimeout(this.#timer);
    this.#leave();
  }

  /** Read now, or right after the read in progress. */
  read = (): void => {
    if (this.#since !== null) {
      this.#isReadAgain = true;
      return;
    }
    window.clearTimeout(this.#timer);
    this.#timer = 0;
    this.#flush();
    this.#since = [];
    readConversation(this.#sessionId, this.#gone.signal).then(
      ({ session, messages }) => {
        const told = this.#since ?? [];
        this.#since = null;
        this.#waiting = [];
        this.#readAt = performance.now();
        this.#become(foldChat(withRead(this.#state.view, session, messages), told));
        if (this.#isReadAgain) this.#readOnce();
      },
      (error) => {
        this.#since = null;
        this.#fail(error);
      },
    );
  };

  #readOnce(): void {
    this.#isReadAgain = false;
    this.read();
  }

  #hear(events: Event[]): void {
    this.#since?.push(...events);
    if (this.#waiting.length === 0) this.#frame = requestAnimationFrame(this.#flush);
    this.#waiting.push(...events);
  }

  #flush = (): void => {
    cancelAnimationFrame(this.#frame);
    const told = this.#waiting;
    this.#waiting = [];
    if (told.length > 0 && this.#state.phase === "ready") this.#become(foldChat(this.#state.view, told));
  };

  #become(view: ChatView): void {
    if (this.#gone.signal.aborted) return;
    this.#state = { view, phase: "ready", error: null };
    this.#show(this.#state);
    if (!view.isStale || this.#timer !== 0) return;
    const rest = Math.max(0, this.#readAt + PAUSE_MS - performance.now());
    this.#timer = window.setTimeout(this.read, rest);
  }

  /** Ignore temporary failures of the server: the conversation is read again after the reconnect. */
  #fail(error: unknown): void {
    const isRefusal = !(error instanceof ApiError) || (error.status >= 400 && error.status < 500);
    if (this.#gone.signal.aborted || (this.#state.phase === "ready" && !isRefusal)) return;
    this.#state = { ...this.#state, phase: "failed", error };
    this.#show(this.#state);
  }
}
