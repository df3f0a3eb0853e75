import { Trash2, X } from "lucide-react";
import type { WorkflowPlace } from "@/api/types";
import { IconButton } from "@/ui/Button";
import { InlineText } from "@/ui/InlineText";
import { STEP_LOOKS } from "../canvas/steps";
import { type Config, type Definition, type Step, titleOf } from "../definition/model";
import { changed, configured, removed } from "../definition/steps";
import { NameFields, OrderFields } from "./forms/CommonFields";
import { ConfigFields } from "./forms/ConfigFields";
import { ErrorFields } from "./forms/ErrorFields";
import type { Change } from "./forms/form";
import { referencesFor } from "./references";
import { SidePanel } from "./SidePanel";

type Props = {
  definition: Definition;
  step: Step;
  problems: readonly WorkflowPlace[];
  change: Change;
  select: (ids: readonly string[]) => void;
};

/** The settings of one step. */
export function StepPanel({ definition, step, problems, change, select }: Props) {
  const { icon: Icon, word, meaning } = STEP_LOOKS[step.type];
  const references = referencesFor(definition, step.id);
  const about = (patch: object) => `${step.id} ${Object.keys(patch).join()}`;
  const set = (patch: Partial<Step>) =>
    change(
      changed(definition, step.id, (before) => ({ ...before, ...patch })),
      about(patch),
    );
  const setConfig = (patch: Partial<Config>) =>
    change(configured(definition, step.id, patch), `config ${about(patch)}`);
  return (
    <SidePanel
      label={`Step ${titleOf(step)}`}
      title={
        <>
          <Icon size={14} aria-hidden className="shrink-0 text-dim" />
          <span className="truncate">{titleOf(step)}</span>
          <span className="shrink-0 text-xs font-normal text-dim">{word}</span>
        </>
      }
      actions={
        <>
          <IconButton
            label="Remove step"
            onClick={() => {
              select([]);
              change(removed(definition, [step.id]));
            }}
          >
            <Trash2 size={14} aria-hidden />
          </IconButton>
          <IconButton label="Close step" onClick={() => select([])}>
            <X size={14} aria-hidden />
          </IconButton>
        </>
      }
    >
      <p className="text-xs text-dim">{meaning}.</p>
      <OwnProblems problems={problems} />
      <NameFields
        definition={definition}
        step={step}
        change={change}
        set={set}
        select={(id) => select([id])}
      />
      <ConfigFields
        id={step.id}
        config={step.config}
        set={setConfig}
        references={references}
        definition={definition}
        change={change}
      />
      <div className="space-y-3 border-t border-line pt-3">
        <OrderFields definition={definition} step={step} change={change} />
      </div>
      <ErrorFields definition={definition} step={step} set={set} references={references} />
    </SidePanel>
  );
}

function OwnProblems({ problems }: { problems: readonly WorkflowPlace[] }) {
  if (problems.length === 0) return null;
  return (
    <ul aria-label="Problems in this step" className="space-y-1">
      {problems.map(({ path, message, hint, is_warning: isWarning }) => (
        <li
          key={`${path} ${message}`}
          className={`rounded-md border px-2.5 py-1.5 ${isWarning ? "wash-wait" : "wash-bad"}`}
        >
          <InlineText text={message} />
          {hint && (
            <p className="text-xs text-dim">
              <InlineText text={hint} />
            </p>
          )}
        </li>
      ))}
    </ul>
  );
}
