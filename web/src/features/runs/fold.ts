/**
 * What a run's events add up to. Pure: the page is a function of the result, a reload folds the same
 * events to the same page, and a test needs no server.
 */
import { foldGates } from "@/api/gates";
import type { Event, EventOf, Gate, Problem, Progress, RunStatus } from "@/api/types";
import type { LogLine } from "@/ui/LogView";
import { toLogLine } from "./log";

export type StepView = {
  number: number;
  name: string;
  attempt: number;
  status: "running" | "retrying" | "ok" | "error" | "stopped";
  startedAt: string;
  /** When the last attempt ended; null while one is going. */
  finishedAt: string | null;
  error: Problem | null;
};

export type RunView = {
  /** null until the first event. */
  status: RunStatus | null;
  startedAt: string | null;
  finishedAt: string | null;
  progress: Progress | null;
  waitingFor: { reason: EventOf<"run.waiting">["data"]["reason"]; until: string | null } | null;
  steps: readonly StepView[];
  gates: readonly Gate[];
  output: unknown;
  error: Problem | null;
  log: readonly LogLine[];
};

export const NOTHING_YET: RunView = {
  status: null,
  startedAt: null,
  finishedAt: null,
  progress: null,
  waitingFor: null,
  steps: [],
  gates: [],
  output: null,
  error: null,
  log: [],
};

export function foldRun(view: RunView, events: readonly Event[]): RunView {
  const log = [...view.log, ...events.map(toLogLine).filter((line) => line !== null)];
  return { ...events.reduce(applyEvent, view), log };
}

function applyEvent(view: RunView, event: Event): RunView {
  switch (event.type) {
    case "run.created":
      return { ...view, status: "pending" };
    case "run.started":
      // Taken up again after a restart: a run that waited goes on waiting.
      return {
        ...view,
        status: view.status === "waiting" ? "waiting" : "running",
        startedAt: view.startedAt ?? event.at,
      };
    case "run.progress":
      return { ...view, progress: event.data };
    case "run.waiting":
      return { ...view, status: "waiting", waitingFor: event.data };
    case "run.resumed":
      return { ...view, status: "running", waitingFor: null };
    case "run.completed":
      return { ...ended(view, "completed", event.at), output: event.data.output };
    case "run.failed":
      return { ...ended(view, "failed", event.at), error: event.data.error };
    case "run.cancelled":
      return ended(view, "cancelled", event.at);
    case "step.started":
      return { ...view, steps: withStep(view.steps, startedStep(event, view.steps)) };
    case "step.finished":
      return { ...view, steps: withStep(view.steps, finishedStep(event, view.steps)) };
    case "gate.opened":
    case "gate.answered":
    case "gate.expired":
    case "gate.closed":
      return { ...view, gates: foldGates(view.gates, event) };
    case "run.changed":
    case "gate.changed":
    case "bot.changed":
    case "chat.asked":
    case "chat.resumed":
    case "chat.answered":
    case "chat.skill":
    case "chat.changed":
    case "chat.summarised":
    case "chat.remembered":
    case "chat.delta":
    case "interview.turned":
    case "interview.finished":
    case "interview.deleted":
    case "interview.delta":
    case "interviews.changed":
    case "skill.changed":
    case "skill.invoked":
    case "message.sent":
    case "message.answered":
    case "workflow.changed":
    case "workflow.refused":
      return view; // These belong to the streams of the account, of conversations and of interviews.
    case "agent.started":
    case "agent.turn":
    case "agent.tool":
    case "agent.compacted":
    case "agent.heard":
    case "agent.ended":
    case "agent.delta":
    case "audit.started":
    case "audit.check":
    case "audit.findings":
    case "audit.finished":
    case "audit.recorded":
    case "workflow.step":
    case "workflow.log":
      return view; // These are the transcript's, the report's and the canvas's.
    default:
      return unknownEvent(event, view);
  }
}

/** The compiler reaches this only when a type is missing above; a newer server's event changes nothing. */
function unknownEvent(_event: never, view: RunView): RunView {
  return view;
}

function ended(view: RunView, status: RunStatus, at: string): RunView {
  const steps = view.steps.map((step) =>
    step.status === "running" || step.status === "retrying"
      ? { ...step, status: "stopped" as const, finishedAt: step.finishedAt ?? at }
      : step,
  );
  return { ...view, status, steps, finishedAt: at, waitingFor: null };
}

/** A step keeps the time it first began, however often it is tried again. */
function startedStep({ at, data }: EventOf<"step.started">, steps: readonly StepView[]): StepView {
  const before = steps.find((step) => step.number === data.step);
  return {
    number: data.step,
    name: data.name,
    attempt: data.attempt,
    status: "running",
    startedAt: before?.startedAt ?? at,
    finishedAt: null,
    error: before?.error ?? null,
  };
}

function finishedStep({ at, data }: EventOf<"step.finished">, steps: readonly StepView[]): StepView {
  const before = steps.find((step) => step.number === data.step);
  const failed = data.retry_in_s == null ? "error" : "retrying";
  return {
    number: data.step,
    name: data.name,
    attempt: data.attempt,
    status: data.outcome === "ok" ? "ok" : failed,
    startedAt: before?.startedAt ?? new Date(Date.parse(at) - data.duration_ms).toISOString(),
    finishedAt: at,
    error: data.error ?? null,
  };
}

function withStep(steps: readonly StepView[], step: StepView): readonly StepView[] {
  const at = steps.findIndex((other) => other.number === step.number);
  return at < 0 ? [...steps, step] : steps.with(at, step);
}
