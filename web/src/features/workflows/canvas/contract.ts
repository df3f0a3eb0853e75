import type { WorkflowStepStatus } from "@/api/types";
import type { Definition } from "../definition/model";

/** How a step of a run stands. `note` is short: a duration, `3 of 10`. */
export type StepMark = { status: WorkflowStepStatus; note?: string };

/** What every canvas shows; without `edit` it is for looking only. */
export type CanvasView = {
  definition: Definition;
  /** By the ids of steps; those that are not there have not begun. */
  marks?: Readonly<Record<string, StepMark>>;
  selected: readonly string[];
  onSelect: (ids: readonly string[]) => void;
  /** Enter, or a second click. */
  onOpen?: (id: string) => void;
};
