/** Log lines of run events. */
import type { Event, EventOf } from "@/api/types";
import type { LogLine } from "@/ui/LogView";
import { formatClock, formatDuration } from "@/ui/time";
import type { Tone } from "@/ui/tone";
import { sayOfAgent } from "./agent/log";
import { sayOfAudit } from "./audit/log";
import { type EventFor, isFor, isKnown } from "./parts";

type Said = { text: string; tone?: Tone } | null;

/** null for events that the log does not show. */
export function toLogLine(event: Event): LogLine | null {
  const said = say(event);
  if (!said || event.seq === null) return null;
  const source = event.type.split(".")[0] ?? event.type;
  return { seq: event.seq, at: event.at, source, text: said.text, tone: said.tone ?? null };
}

function say(event: Event): Said {
  if (isFor("run", event)) return sayOfRun(event);
  if (isFor("agent", event)) return sayOfAgent(event);
  if (isFor("audit", event)) return sayOfAudit(event);
  return isKnown(event) ? null : { text: JSON.stringify(event.data) };
}

function sayOfRun(event: EventFor<"run">): Said {
  switch (event.type) {
    case "run.created":
      return { text: "Queued." };
    case "run.started":
      return { text: started(event), tone: "run" };
    case "run.progress":
      return { text: progress(event) };
    case "run.waiting":
      return waiting(event);
    case "run.resumed":
      return { text: "Resumed.", tone: "idle" };
    case "run.completed":
      return { text: "Completed.", tone: "ok" };
    case "run.failed":
      return { text: withHint(`Failed: ${event.data.error.message}`, event.data.error.hint), tone: "bad" };
    case "run.cancelled":
      return { text: `Cancelled by ${event.data.by}.` };
    case "step.started":
      return { text: `${event.data.name}${attempt(event.data.attempt)}` };
    case "step.finished":
      return finished(event);
    case "gate.opened":
      return { text: `Question: ${event.data.gate.title}`, tone: "wait" };
    case "gate.answered":
      return { text: answered(event) };
    case "gate.expired":
      return { text: "The question expired.", tone: "wait" };
    case "gate.closed":
      return { text: "The question was withdrawn." };
  }
}

const attempt = (number: number): string => (number > 1 ? ` (attempt ${number})` : "");

const withHint = (text: string, hint: string | null | undefined): string => (hint ? `${text} ${hint}` : text);

function started({ data }: EventOf<"run.started">): string {
  return `Started on ${data.worker}${attempt(data.attempt)}.`;
}

function progress({ data: { done, total, note } }: EventOf<"run.progress">): string {
  return note ? `${done} of ${total}: ${note}` : `${done} of ${total}`;
}

const WAITS = {
  gate: "Waiting for an answer",
  message: "Waiting for a message",
  sleep: "Sleeping",
  child: "Waiting for a child run",
  step: "Waiting in a step",
} as const;

/** Only waiting for a person is highlighted. */
function waiting({ data: { reason, until } }: EventOf<"run.waiting">): Said {
  const text = until ? `${WAITS[reason]}, until ${formatClock(until)}.` : `${WAITS[reason]}.`;
  return { text, tone: reason === "gate" ? "wait" : "idle" };
}

function finished({ data }: EventOf<"step.finished">): Said {
  const took = formatDuration(data.duration_ms);
  if (data.outcome === "ok") return { text: `${data.name}: done in ${took}.`, tone: "idle" };
  const why = withHint(data.error?.message ?? "failed", data.error?.hint);
  const text = `${data.name}${attempt(data.attempt)}: ${why}`;
  if (data.retry_in_s == null) return { text, tone: "bad" };
  return { text: `${text} Retrying in ${formatDuration(data.retry_in_s * 1000)}.`, tone: "wait" };
}

function answered({ data }: EventOf<"gate.answered">): string {
  const said = `${data.answered_by} answered: ${data.option}.`;
  return data.comment ? `${said} “${data.comment}”` : said;
}
