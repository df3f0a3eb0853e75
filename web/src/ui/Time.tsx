import { useSyncExternalStore } from "react";
import { formatAgo, formatElapsed, formatUntil } from "./time";

const TICK_MS = 1000;

/** One clock for all times on the page; it stops when nothing uses it. */
const clock = {
  now: Date.now(),
  readers: new Set<() => void>(),
  timer: 0,
  read: () => clock.now,
  watch: (reader: () => void) => {
    if (clock.readers.size === 0) clock.timer = window.setInterval(clock.tick, TICK_MS);
    clock.readers.add(reader);
    clock.now = Date.now();
    return () => {
      clock.readers.delete(reader);
      if (clock.readers.size === 0) window.clearInterval(clock.timer);
    };
  },
  tick: () => {
    clock.now = Date.now();
    for (const reader of clock.readers) reader();
  },
};

export function useNow(): number {
  return useSyncExternalStore(clock.watch, clock.read);
}

export function Ago({ at, className }: { at: string; className?: string }) {
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()} className={className}>
      {formatAgo(at, useNow())}
    </time>
  );
}

export function Until({ at, className }: { at: string; className?: string }) {
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()} className={className}>
      {formatUntil(at, useNow())}
    </time>
  );
}

/** The time since `from`, counting up. */
export function Elapsed({ from }: { from: string }) {
  return formatElapsed(useNow() - Date.parse(from));
}

/** The time until `to`, counting down to zero. */
export function Remaining({ to }: { to: string }) {
  return formatElapsed(Math.max(0, Date.parse(to) - useNow()));
}
