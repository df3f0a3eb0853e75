import type { WorkflowStepStatus } from "@/api/types";
import type { Definition } from "../definition/model";

/** The status of a step in a run. `note` is short: a duration, `3 of 10`. */
export type StepMark = { status: WorkflowStepStatus; note?: string };

export type Marks = Readonly<Record<string, StepMark>>;

/** The props of the canvas; without `onChange` it is read-only. */
export type CanvasView = {
  definition: Definition;
  /** By step ID; missing steps have not started. */
  marks?: Marks | undefined;
  /** The number of problems by step ID. */
  mistakes?: Readonly<Record<string, number>> | undefined;
  selected: readonly string[];
  onSelect: (ids: readonly string[]) => void;
  /** On Enter or double click. */
  onOpen?: ((id: string) => void) | undefined;
  onChange?: ((definition: Definition) => void) | undefined;
};
