/**
 * The state of a workflow run, folded from its events: status, steps with their times, questions and log. Pure, so that
 * a reload gives the same page.
 */
import { foldGates } from "@/api/gates";
import { foldEnd, foldLife, NOT_BORN, type RunLife } from "@/api/runLife";
import type { Event, EventOf, Gate, WorkflowStep } from "@/api/types";
import type { LogLine } from "@/ui/LogView";
import { isSettled } from "../words";
import { toLogLines } from "./log";

/** A span of a step's time; `to` is null while it is open. */
export type Stretch = { is: "work" | "wait"; attempt: number; from: string; to: string | null };

export type RunView = RunLife & {
  gates: readonly Gate[];
  /** By key, in the order in which they started. */
  steps: ReadonlyMap<string, WorkflowStep>;
  times: ReadonlyMap<string, readonly Stretch[]>;
  log: readonly LogLine[];
};

export const NOTHING_YET: RunView = {
  ...NOT_BORN,
  gates: [],
  steps: new Map(),
  times: new Map(),
  log: [],
};

type Growing = Omit<RunView, "steps" | "times" | "log"> & {
  steps: Map<string, WorkflowStep>;
  times: Map<string, readonly Stretch[]>;
  log: LogLine[];
};

/** Copies the collections once per batch, however many events it contains. */
export function foldRun(view: RunView, events: readonly Event[]): RunView {
  const next: Growing = {
    ...view,
    steps: new Map(view.steps),
    times: new Map(view.times),
    log: [...view.log],
  };
  for (const event of events) {
    if (!isToldAgain(next, event)) next.log.push(...toLogLines(event));
    Object.assign(next, apply(next, event));
  }
  return next;
}

/** A repeated event that changes nothing. */
function isToldAgain({ steps }: Growing, event: Event): boolean {
  if (event.type !== "workflow.step") return false;
  const { key, status, attempt, note } = event.data.step;
  const before = steps.get(key);
  return before?.status === status && before.attempt === attempt && before.note === note;
}

/** Changes steps and times in place and returns the other changes. */
function apply(view: Growing, event: Event): Partial<RunView> {
  switch (event.type) {
    case "run.created":
    case "run.started":
    case "run.waiting":
    case "run.resumed":
      return foldLife(view, event);
    case "run.completed":
    case "run.failed":
    case "run.cancelled":
      stop(view, event.at);
      return foldEnd(event);
    case "gate.opened":
    case "gate.answered":
    case "gate.expired":
    case "gate.closed":
      return { gates: foldGates(view.gates, event) };
    case "workflow.step":
      return move(view, event);
    case "workflow.log":
    case "run.progress":
      return {}; // Only shown in the log.
    case "step.started":
    case "step.finished":
      return {}; // Events of the engine; workflows report their steps themselves.
    default:
      return notOfWorkflows(event);
  }
}

type Elsewhere = Exclude<
  Event["type"],
  `run.${string}` | `gate.${string}` | `step.${string}` | `workflow.${string}`
>;

/** The compiler reports new run, gate and step events here; events of other streams are ignored. */
function notOfWorkflows(
  _event: EventOf<Elsewhere | "run.changed" | "gate.changed" | "workflow.changed" | "workflow.refused">,
): Partial<RunView> {
  return {};
}

/** Close what was running when the run ended. */
function stop(view: Growing, at: string): void {
  for (const [key, step] of view.steps) {
    if (isSettled(step.status)) continue;
    view.steps.set(key, { ...step, status: "cancelled", finished_at: step.finished_at ?? at });
    view.times.set(key, closed(view.times.get(key) ?? [], at));
  }
}

function move(view: Growing, { at, data: { step } }: EventOf<"workflow.step">): Partial<RunView> {
  view.steps.set(step.key, step);
  if (!step.is_kept) view.times.set(step.key, continued(view.times.get(step.key) ?? [], step, at));
  return {};
}

function continued(times: readonly Stretch[], step: WorkflowStep, at: string): readonly Stretch[] {
  const is = step.status === "running" ? "work" : "wait";
  const last = times.at(-1);
  // A repeated event, such as a new note: the span continues.
  if (last?.to === null && last.is === is && last.attempt === step.attempt && !isSettled(step.status))
    return times;
  const before = closed(times, isSettled(step.status) ? (step.finished_at ?? at) : at);
  if (!isSettled(step.status)) return [...before, { is, attempt: step.attempt, from: at, to: null }];
  if (before.length > 0 || !step.started_at || step.status === "skipped") return before;
  return [{ is: "work", attempt: step.attempt, from: step.started_at, to: step.finished_at ?? at }];
}

function closed(times: readonly Stretch[], at: string): readonly Stretch[] {
  const last = times.at(-1);
  return last?.to === null ? times.with(-1, { ...last, to: at }) : times;
}
