/**
 * The one WebSocket of a page: every stream goes through it. It reconnects by itself and asks for
 * what it missed, so a subscriber sees each event exactly once and in order. Whispers (`seq` null)
 * are handed on where they come, and nothing is remembered of them.
 */
import { backoff } from "./backoff";
import type { Event } from "./types";

export type LiveStatus = "connecting" | "live" | "reconnecting" | "offline";
export type Refusal = { code: string; message: string; hint: string | null };
export type Listener = {
  onEvents: (events: Event[]) => void;
  /** Connected, or connected again: whatever happens from here on will be delivered. `isFromNow`: nothing before it was. */
  onSubscribed?: (isFromNow: boolean) => void;
  /** The server will not give this stream: unknown, or not yours. Nothing more will come. */
  onRefused?: (refusal: Refusal) => void;
};

type Incoming =
  | { type: "subscribed"; stream: string; last_seq: number }
  | { type: "events"; events: Event[] }
  | { type: "error"; stream: string | null; code: string; message: string; hint: string | null }
  | { type: "ping" };
/** A listener and the last event it has; null while it waits to learn where "now" is. */
type Subscriber = Listener & { after: number | null; wantsNow: boolean };

/** The log is shorter than what was seen of it, as after a backup was put back: it is another log. */
export const isAnotherLog = ({ code }: Refusal): boolean => code === "conflict";

const SIGNED_OUT = 4401;
const STOPPING_CODES = [SIGNED_OUT, 4403, 4404];
/** The server pings every 30 s; silence for longer than two of them means the line is dead. */
const SILENCE_MS = 70_000;
/** A connection that lived this long was a good one: the next failure starts from the shortest wait. */
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

  /** Everything on `stream` past `after`, replayed and then live, until the returned function is called. */
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

  /** Hang up, as on signing out. Subscribing again connects again. */
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

  /** Who wants no more than what happens from now on gets that from another log as well. */
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

  /** (Re)subscribe from the earliest event a listener still lacks; the others drop what they have. */
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

  /** Back online, or looked at again: do not sit out the rest of a long wait. */
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
