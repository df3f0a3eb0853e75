import type { WorkflowPlace } from "@/api/types";
import { type Definition, stepOf } from "../definition/model";
import type { Change } from "./forms/form";
import { SelectionPanel } from "./SelectionPanel";
import { StepPanel } from "./StepPanel";
import { SettingsPanel } from "./settings/SettingsPanel";
import { TrialPanel } from "./TrialPanel";
import type { Trial } from "./useTrial";

/** What is beside the canvas while no step is selected. */
export type SideView = "settings" | "trial" | null;

type Props = {
  definition: Definition;
  /** What is selected on the canvas, and the steps that means: a folded loop is itself and all that is in it. */
  selected: readonly string[];
  ids: readonly string[];
  view: SideView;
  problems: readonly WorkflowPlace[];
  trial: Trial;
  change: Change;
  select: (ids: readonly string[]) => void;
  close: () => void;
};

/** Beside the canvas: the selected step, several of them, a dry run, or the workflow as a whole. */
export function Side({ definition, selected, ids, view, problems, trial, change, select, close }: Props) {
  const [one, ...others] = selected;
  const step = one !== undefined && others.length === 0 ? stepOf(definition, one) : undefined;
  if (view === "trial") return <TrialPanel trial={trial} close={close} select={select} />;
  if (step) {
    return (
      <StepPanel
        key={step.id}
        definition={definition}
        step={step}
        problems={problems.filter((problem) => problem.step === step.id)}
        change={change}
        select={select}
      />
    );
  }
  if (ids.length > 1) {
    return <SelectionPanel definition={definition} ids={ids} change={change} select={select} />;
  }
  if (view === "settings") return <SettingsPanel definition={definition} change={change} close={close} />;
  return null;
}
