/**
 * The single WebSocket of the page, shared by all streams. It reconnects automatically and requests what it missed, so
 * a subscriber sees each event exactly once and in order. Ephemeral events (`seq` null) are passed on and never
 * replayed.
 */
import { backoff } from "./backoff";
import type { Event } from "./types";

export type LiveStatus = "connecting" | "live" | "reconnecting" | "offline";
export type Refusal = { code: string; message: string; hint: string | null };
export type Listener = {
  onEvents: (events: Event[]) => void;
  /** Called after every (re)connection; later events will be delivered. `isFromNow`: earlier events were not. */
  onSubscribed?: (isFromNow: boolean) => void;
  /** The server rejected the subscription: the stream is unknown or belongs to another account. */
  onRefused?: (refusal: Refusal) => void;
};

type Incoming =
  | { type: "subscribed"; stream: string; last_seq: number }
  | { type: "events"; events: Event[] }
  | { type: "error"; stream: string | null; code: string; message: string; hint: string | null }
  | { type: "ping" };
/** A listener and the seq of its last event; null until the server reports the current position. */
type Subscriber = Listener & { after: number | null; wantsNow: boolean };

/** The log is shorter than what was already received, for example after a restored backup: it is a different log. */
export const isAnotherLog = ({ code }: Refusal): boolean => code === "conflict";

const SIGNED_OUT = 4401;
const STOPPING_CODES = [SIGNED_OUT, 4403, 4404];
/** The server pings every 30 s; after two missed pings the connection is considered dead. */
const SILENCE_MS = 70_000;
/** After a connection of this length, the next failure starts again with the shortest delay. */
const STABLE_MS = 10_000;
const OFFLINE_AFTER_ATTEMPTS = 4;

export type LiveOptions = {
  url: string;
  onSignedOut: () => void;
  open?: (url: string) => WebSocket;
  random?: () => number;
};

export class LiveClient {
  status: LiveStatus = "connecting";

  readonly #options: Required<LiveOptions>;
  readonly #streams = new Map<string, Set<Subscriber>>();
  readonly #watchers = new Set<() => void>();
  #socket: WebSocket | null = null;
  #attempt = 0;
  #openedAt = 0;
  #retry: number | undefined;
  #watchdog: number | undefined;

  constructor(options: LiveOptions) {
    this.#options = { open: (url) => new WebSocket(url), random: Math.random, ...options };
    window.addEventListener("online", this.#hurry);
    document.addEventListener("visibilitychange", this.#hurry);
  }

  /**
   * Deliver all events of `stream` after `after`, first replayed and then live, until the returned function is called.
   */
  subscribe(stream: string, after: number | "now", listener: Listener): () => void {
    const wantsNow = after === "now";
    const subscriber: Subscriber = { ...listener, after: wantsNow ? null : after, wantsNow };
    const others = this.#streams.get(stream);
    if (others) others.add(subscriber);
    else this.#streams.set(stream, new Set([subscriber]));
    if (this.#socket === null && this.#retry === undefined) this.#connect();
    else this.#ask(stream);
    return () => this.#leave(stream, subscriber);
  }

  watch = (onChange: () => void): (() => void) => {
    this.#watchers.add(onChange);
    return () => this.#watchers.delete(onChange);
  };

  /** Close the connection, as on sign-out. A new subscription reconnects. */
  close(): void {
    const socket = this.#socket;
    this.#forget();
    this.#streams.clear();
    this.#attempt = 0;
    this.#become("connecting");
    socket?.close(1000);
  }

  #connect(): void {
    const socket = this.#options.open(this.#options.url);
    this.#forget();
    this.#socket = socket;
    socket.onopen = () => {
      this.#openedAt = Date.now();
      this.#become("live");
      this.#listen();
      for (const stream of this.#streams.keys()) this.#ask(stream);
    };
    socket.onmessage = (message: MessageEvent<string>) => {
      this.#listen();
      this.#receive(JSON.parse(message.data) as Incoming);
    };
    socket.onclose = ({ code }) => {
      if (socket === this.#socket) this.#lost(code);
    };
  }

  #receive(message: Incoming): void {
    if (message.type === "events") this.#deliver(message.events);
    else if (message.type === "subscribed") this.#start(message.stream, message.last_seq);
    else if (message.type === "error" && message.stream !== null) this.#refuse(message.stream, message);
  }

  #start(stream: string, lastSeq: number): void {
    for (const subscriber of this.#streams.get(stream) ?? []) {
      const isFromNow = subscriber.after === null;
      subscriber.after ??= lastSeq;
      subscriber.onSubscribed?.(isFromNow);
    }
  }

  #deliver(events: Event[]): void {
    for (const [stream, subscribers] of this.#streams) {
      const ofStream = events.filter((event) => event.stream === stream);
      for (const subscriber of subscribers) deliverTo(subscriber, ofStream);
    }
  }

  /** A subscriber that only wants new events stays subscribed even if the log was replaced. */
  #refuse(stream: string, { code, message, hint }: Refusal): void {
    const refusal = { code, message, hint };
    const subscribers = [...(this.#streams.get(stream) ?? [])];
    const staying = isAnotherLog(refusal) ? subscribers.filter(({ wantsNow }) => wantsNow) : [];
    for (const subscriber of staying) subscriber.after = null;
    this.#streams.delete(stream);
    if (staying.length > 0) {
      this.#streams.set(stream, new Set(staying));
      this.#ask(stream);
    }
    for (const subscriber of subscribers) {
      if (!staying.includes(subscriber)) subscriber.onRefused?.(refusal);
    }
  }

  /** (Re)subscribe from the earliest event that any listener lacks; the others drop what they already have. */
  #ask(stream: string): void {
    const cursors = [...(this.#streams.get(stream) ?? [])].flatMap(({ after }) => after ?? []);
    const after = cursors.length > 0 ? Math.min(...cursors) : null;
    this.#send({ type: "subscribe", stream, after });
  }

  #leave(stream: string, subscriber: Subscriber): void {
    const subscribers = this.#streams.get(stream);
    if (!subscribers?.delete(subscriber) || subscribers.size > 0) return;
    this.#streams.delete(stream);
    this.#send({ type: "unsubscribe", stream });
  }

  #send(message: object): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  #lost(code: number): void {
    const wasStable = this.#openedAt > 0 && Date.now() - this.#openedAt > STABLE_MS;
    this.#forget();
    if (STOPPING_CODES.includes(code)) {
      this.#become("offline");
      if (code === SIGNED_OUT) this.#options.onSignedOut();
      return;
    }
    if (wasStable) this.#attempt = 0;
    const wait = backoff(this.#attempt++, this.#options.random);
    this.#retry = window.setTimeout(() => this.#connect(), wait);
    this.#become(this.#attempt > OFFLINE_AFTER_ATTEMPTS || !navigator.onLine ? "offline" : "reconnecting");
  }

  /** When the browser is online or visible again, do not wait for the rest of a long delay. */
  #hurry = (): void => {
    if (this.#retry !== undefined && document.visibilityState === "visible") this.#connect();
  };

  #listen(): void {
    window.clearTimeout(this.#watchdog);
    this.#watchdog = window.setTimeout(() => {
      const socket = this.#socket;
      this.#lost(0);
      socket?.close();
    }, SILENCE_MS);
  }

  #forget(): void {
    window.clearTimeout(this.#retry);
    window.clearTimeout(this.#watchdog);
    this.#retry = undefined;
    this.#socket = null;
    this.#openedAt = 0;
  }

  #become(status: LiveStatus): void {
    if (status === this.status) return;
    this.status = status;
    for (const watcher of this.#watchers) watcher();
  }
}

function deliverTo(subscriber: Subscriber, events: Event[]): void {
  const { after } = subscriber;
  if (after === null) return;
  const fresh = events.filter(({ seq }) => seq === null || seq > after);
  if (fresh.length === 0) return;
  subscriber.after = Math.max(after, ...fresh.map(({ seq }) => seq ?? after));
  subscriber.onEvents(fresh);
}
