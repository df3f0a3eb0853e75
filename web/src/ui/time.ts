/** Formatting of times and durations. Pure; the current time is an argument. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const pad = (value: number): string => String(value).padStart(2, "0");

/** `320ms`, `4.2s`, `41s`, `6m 05s`, `2h 14m`, `3d 4h`. */
export function formatDuration(ms: number): string {
  if (ms < SECOND) return `${Math.max(0, Math.round(ms))}ms`;
  if (ms < 10 * SECOND) return `${(Math.floor(ms / 100) / 10).toFixed(1)}s`;
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)}s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)}m ${pad(Math.floor((ms % MINUTE) / SECOND))}s`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)}h ${pad(Math.floor((ms % HOUR) / MINUTE))}m`;
  return `${Math.floor(ms / DAY)}d ${Math.floor((ms % DAY) / HOUR)}h`;
}

/** Whole seconds, for a running clock: `0s`, `41s`, `6m 05s`. */
export function formatElapsed(ms: number): string {
  return ms < MINUTE ? `${Math.max(0, Math.floor(ms / SECOND))}s` : formatDuration(ms);
}

/** `just now`, `4m ago`, `2h ago`, `3d ago`, then the date. */
export function formatAgo(at: string, now: number): string {
  const ms = now - Date.parse(at);
  if (ms < MINUTE) return "just now";
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)}m ago`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)}h ago`;
  if (ms < 30 * DAY) return `${Math.floor(ms / DAY)}d ago`;
  return formatDate(at);
}

const formatDate = (at: string): string =>
  new Date(at).toLocaleDateString(undefined, { day: "numeric", month: "short", year: "numeric" });

/** `now`, `in 40s`, `in 4m`, `in 2h 14m`, `in 3d 4h`, then the date. */
export function formatUntil(at: string, now: number): string {
  const ms = Date.parse(at) - now;
  if (ms <= 0) return "now";
  if (ms < MINUTE) return `in ${Math.ceil(ms / SECOND)}s`;
  if (ms < HOUR) return `in ${Math.ceil(ms / MINUTE)}m`;
  if (ms < 30 * DAY) return `in ${formatDuration(ms)}`;
  return formatDate(at);
}

/** The time of day in the reader's time zone. */
export function formatClock(at: string): string {
  const date = new Date(at);
  return `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
}
