import type { WorkflowPlace } from "@/api/types";
import { type Definition, stepOf } from "../definition/model";
import type { Change } from "./forms/form";
import { SelectionPanel } from "./SelectionPanel";
import { StepPanel } from "./StepPanel";
import { SettingsPanel } from "./settings/SettingsPanel";
import { TrialPanel } from "./TrialPanel";
import type { Trial } from "./useTrial";

/** What the side panel shows if no step is selected. */
export type SideView = "settings" | "trial" | null;

type Props = {
  definition: Definition;
  /** The selected boxes, and the steps they stand for: a folded loop includes its body. */
  selected: readonly string[];
  ids: readonly string[];
  view: SideView;
  problems: readonly WorkflowPlace[];
  trial: Trial;
  change: Change;
  select: (ids: readonly string[]) => void;
  close: () => void;
};

/** The side panel: the selected steps, a dry run, or the workflow's settings. */
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
