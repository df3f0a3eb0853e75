/** The parts of a run's state that all kinds of runs share. */
import type { EventOf, Problem, RunStatus } from "./types";

/** Status, times and result of a run. */
export type RunLife = {
  /** null before the first event. */
  status: RunStatus | null;
  startedAt: string | null;
  finishedAt: string | null;
  output: unknown;
  /** Why the run completed without success. */
  outcome: string | null;
  error: Problem | null;
};

export const NOT_BORN: RunLife = {
  status: null,
  startedAt: null,
  finishedAt: null,
  output: null,
  outcome: null,
  error: null,
};

type Lived = EventOf<"run.created" | "run.started" | "run.waiting" | "run.resumed">;
type Ended = EventOf<"run.completed" | "run.failed" | "run.cancelled">;

export function foldLife(life: RunLife, event: Lived): Partial<RunLife> {
  switch (event.type) {
    case "run.created":
      return { status: "pending" };
    case "run.started":
      // Recovered after a restart: a waiting run keeps waiting.
      return {
        status: life.status === "waiting" ? "waiting" : "running",
        startedAt: life.startedAt ?? event.at,
      };
    case "run.waiting":
      return { status: "waiting" };
    case "run.resumed":
      return { status: "running" };
  }
}

export function foldEnd(event: Ended): Partial<RunLife> {
  switch (event.type) {
    case "run.completed":
      return {
        status: "completed",
        finishedAt: event.at,
        output: event.data.output,
        outcome: event.data.outcome ?? null,
      };
    case "run.failed":
      return { status: "failed", finishedAt: event.at, error: event.data.error };
    case "run.cancelled":
      return { status: "cancelled", finishedAt: event.at };
  }
}
