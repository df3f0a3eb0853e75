/** The status of definition steps in a run, aggregated over iterations. */
import type { WorkflowStep } from "@/api/types";
import { formatDuration } from "@/ui/time";
import type { StepMark } from "../canvas/contract";
import { isSettled } from "../words";
import { together } from "./rows";

export type Steps = ReadonlyMap<string, WorkflowStep>;

/** By step ID. A step in a loop shows the status of all iterations. */
export function marksOf(steps: Steps): Record<string, StepMark> {
  const byId = new Map<string, WorkflowStep[]>();
  for (const step of steps.values()) {
    const others = byId.get(step.step);
    if (others) others.push(step);
    else byId.set(step.step, [step]);
  }
  return Object.fromEntries([...byId].map(([id, found]) => [id, markOf(found)]));
}

function markOf(found: readonly WorkflowStep[]): StepMark {
  const status = together(found.map((step) => step.status));
  const [first, ...others] = found;
  if (others.length > 0) {
    const done = found.filter((step) => isSettled(step.status)).length;
    return { status, note: done === found.length ? `${done} times` : `${done} of ${found.length}` };
  }
  return { status, ...(first && noteOf(first)) };
}

function noteOf({ status, attempt, started_at, finished_at, is_kept }: WorkflowStep): { note?: string } {
  if (is_kept) return { note: "kept" };
  if (attempt > 1 && !isSettled(status)) return { note: `attempt ${attempt}` };
  if (!isSettled(status) || !started_at || !finished_at || status === "skipped") return {};
  return { note: formatDuration(Date.parse(finished_at) - Date.parse(started_at)) };
}

/** The run step for a definition step: the most relevant by status, otherwise the latest. */
export function keyOf(steps: Steps, id: string): string {
  const found = [...steps.values()].filter(({ step }) => step === id);
  const status = together(found.map((step) => step.status));
  return (found.findLast((step) => step.status === status) ?? found.at(-1))?.key ?? id;
}

/** The same step in the other iterations of its loop, in order. */
export function siblingsOf(steps: Steps, key: string): string[] {
  const start = /^(.*\[)\d+\]\/([^/[\]]+)$/.exec(key);
  if (!start) return [];
  const [, loop = "", id = ""] = start;
  const numberOf = (other: string): number => Number(other.slice(loop.length).split("]")[0]);
  return [...steps.keys()]
    .filter((other) => other.startsWith(loop) && other.slice(loop.length).replace(/^\d+\]\//, "") === id)
    .sort((a, b) => numberOf(a) - numberOf(b));
}

export type Iteration = { number: number; steps: readonly WorkflowStep[] };

/** The iterations of a loop in order, without those of nested loops. */
export function iterationsOf(steps: Steps, loop: string): Iteration[] {
  const found = new Map<number, WorkflowStep[]>();
  for (const step of steps.values()) {
    if (!step.key.startsWith(`${loop}[`)) continue;
    const [, number, inner] = /^(\d+)\]\/(.+)$/.exec(step.key.slice(loop.length + 1)) ?? [];
    if (number === undefined || inner?.includes("/")) continue;
    found.set(Number(number), [...(found.get(Number(number)) ?? []), step]);
  }
  return [...found].sort(([a], [b]) => a - b).map(([number, inside]) => ({ number, steps: inside }));
}

/** The cost of the steps so far; kept steps were paid for earlier. */
export const costOf = (steps: Steps): number =>
  [...steps.values()].reduce((sum, { cost_micros, is_kept }) => sum + (is_kept ? 0 : cost_micros), 0);
