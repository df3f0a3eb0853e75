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

/** The form for the step's type. */
export function ConfigFields(props: AnyConfigForm) {
  // The key guarantees that config and form match.
  const Form = FORMS[props.config.type] as unknown as ComponentType<AnyConfigForm>;
  return <Form {...props} />;
}
