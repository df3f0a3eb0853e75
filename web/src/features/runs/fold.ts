/** The state of a run, folded from its events. Pure, so that a reload gives the same page and tests need no server. */
import { foldGates } from "@/api/gates";
import { foldEnd, foldLife, NOT_BORN, type RunLife } from "@/api/runLife";
import type { Event, EventOf, Gate, Problem, Progress } from "@/api/types";
import type { LogLine } from "@/ui/LogView";
import { toLogLine } from "./log";
import { type EventFor, isFor } from "./parts";

export type StepView = {
  number: number;
  name: string;
  attempt: number;
  status: "running" | "retrying" | "ok" | "error" | "stopped";
  startedAt: string;
  /** When the last attempt ended; null while one is running. */
  finishedAt: string | null;
  error: Problem | null;
  /** When the next attempt starts, if one is due. */
  retryAt: string | null;
};

export type RunView = RunLife & {
  progress: Progress | null;
  steps: readonly StepView[];
  gates: readonly Gate[];
  log: readonly LogLine[];
};

export const NOTHING_YET: RunView = {
  ...NOT_BORN,
  progress: null,
  steps: [],
  gates: [],
  log: [],
};

/** Copies each list once per batch, however many events it contains. */
export function foldRun(view: RunView, events: readonly Event[]): RunView {
  const next = { ...view, steps: [...view.steps], log: [...view.log] };
  for (const event of events) {
    if (isFor("run", event)) Object.assign(next, apply(next, event));
    const line = toLogLine(event);
    if (line) next.log.push(line);
  }
  return next;
}

type Growing = Omit<RunView, "steps"> & { steps: StepView[] };

/** Inserts steps in place and returns the other changes. */
function apply(view: Growing, event: EventFor<"run">): Partial<RunView> {
  switch (event.type) {
    case "run.created":
    case "run.started":
    case "run.waiting":
    case "run.resumed":
      return foldLife(view, event);
    case "run.progress":
      return { progress: event.data };
    case "run.completed":
    case "run.failed":
    case "run.cancelled":
      return { ...foldEnd(event), ...stopped(view, event.at) };
    case "step.started":
      return begin(view, event);
    case "step.finished":
      return finish(view, event);
    case "gate.opened":
    case "gate.answered":
    case "gate.expired":
    case "gate.closed":
      return { gates: foldGates(view.gates, event) };
  }
}

/** Steps that were running when the run ended. */
function stopped(view: Growing, at: string): Partial<RunView> {
  const steps = view.steps.map((step) =>
    step.status === "running" || step.status === "retrying"
      ? { ...step, status: "stopped" as const, finishedAt: step.finishedAt ?? at }
      : step,
  );
  return { steps };
}

/** A step keeps its first start time across retries. */
function begin(view: Growing, { at, data }: EventOf<"step.started">): Partial<RunView> {
  return put(view, data.step, (before) => ({
    number: data.step,
    name: data.name,
    attempt: data.attempt,
    status: "running",
    startedAt: before?.startedAt ?? at,
    finishedAt: null,
    error: before?.error ?? null,
    retryAt: null,
  }));
}

function finish(view: Growing, { at, data }: EventOf<"step.finished">): Partial<RunView> {
  const failed = data.retry_in_s == null ? "error" : "retrying";
  return put(view, data.step, (before) => ({
    number: data.step,
    name: data.name,
    attempt: data.attempt,
    status: data.outcome === "ok" ? "ok" : failed,
    startedAt: before?.startedAt ?? new Date(Date.parse(at) - data.duration_ms).toISOString(),
    finishedAt: at,
    error: data.error ?? null,
    retryAt: data.retry_in_s == null ? null : later(at, data.retry_in_s),
  }));
}

const later = (at: string, seconds: number): string =>
  new Date(Date.parse(at) + seconds * 1000).toISOString();

/** Searches from the end, because events are usually about recent steps. */
function put(
  view: Growing,
  number: number,
  make: (before: StepView | undefined) => StepView,
): Partial<RunView> {
  const at = view.steps.findLastIndex((step) => step.number === number);
  const step = make(view.steps[at]);
  if (at < 0) view.steps.push(step);
  else view.steps[at] = step;
  return {};
}
