import type { WorkflowStepStatus } from "@/api/types";
import type { Definition } from "../definition/model";

/** How a step of a run stands. `note` is short: a duration, `3 of 10`. */
export type StepMark = { status: WorkflowStepStatus; note?: string };

export type Marks = Readonly<Record<string, StepMark>>;

/** What every canvas shows; without `onChange` it is for looking only. */
export type CanvasView = {
  definition: Definition;
  /** By the ids of steps; those that are not there have not begun. */
  marks?: Marks | undefined;
  /** How many mistakes there are in a step, by its id. */
  mistakes?: Readonly<Record<string, number>> | undefined;
  selected: readonly string[];
  onSelect: (ids: readonly string[]) => void;
  /** Enter, or a second click. */
  onOpen?: ((id: string) => void) | undefined;
  onChange?: ((definition: Definition) => void) | undefined;
};
