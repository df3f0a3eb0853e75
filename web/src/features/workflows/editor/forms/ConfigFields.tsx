import type { ComponentType } from "react";
import type { StepType } from "../../definition/model";
import { AgentForm } from "./AgentForm";
import { ApprovalForm } from "./ApprovalForm";
import { CodeForm } from "./CodeForm";
import { ConditionalForm, LoopForm, WaitForm } from "./FlowForms";
import type { AnyConfigForm, ConfigForm } from "./form";
import { HttpForm } from "./HttpForm";
import { AuditForm, MessageForm, SubWorkflowForm } from "./OtherForms";
import { SkillForm } from "./SkillForm";

const FORMS: { [Type in StepType]: ComponentType<ConfigForm<Type>> } = {
  agent: AgentForm,
  skill: SkillForm,
  http: HttpForm,
  code: CodeForm,
  conditional: ConditionalForm,
  loop: LoopForm,
  approval: ApprovalForm,
  sub_workflow: SubWorkflowForm,
  wait: WaitForm,
  message: MessageForm,
  audit: AuditForm,
};

/** What a step does, to fill in: each type has a form of its own. */
export function ConfigFields(props: AnyConfigForm) {
  // The type of the config and the form are found by the same key.
  const Form = FORMS[props.config.type] as unknown as ComponentType<AnyConfigForm>;
  return <Form {...props} />;
}
