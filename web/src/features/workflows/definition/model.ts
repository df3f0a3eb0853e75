/**
 * The format of a workflow definition. The server owns it (`forge/workflows/definition/models.py`) and fills in
 * defaults.
 */
import type { WorkflowStepType } from "@/api/types";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Optional<Shape> = { [Key in keyof Shape]?: Shape[Key] | undefined };

export type StepType = WorkflowStepType;

export type AgentConfig = { type: "agent"; bot: string; prompt: string } & Optional<{
  model: string;
  session: "new" | "reuse";
  output_schema: { [key: string]: Json };
}>;
export type SkillConfig = { type: "skill"; skill: string } & Optional<{ input: Json }>;
export type Language = "javascript" | "python" | "wasm";
export type CodeConfig = { type: "code"; language: Language; source: string } & Optional<{ input: Json }>;
export type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
export type HttpConfig = { type: "http"; url: string } & Optional<{
  method: Method;
  headers: Record<string, string>;
  body: Json;
  expect_status: number[];
  max_bytes: number;
}>;
export type ConditionalConfig = { type: "conditional"; condition: string } & Optional<{
  then_steps: string[];
  else_steps: string[];
}>;
export type LoopConfig = { type: "loop"; body_steps: string[] } & Optional<{
  condition: string;
  items: Json;
  max_iterations: number;
  parallel: number;
}>;
export type ApprovalConfig = { type: "approval"; prompt: string } & Optional<{
  timeout_secs: number;
  on_timeout: "fail" | "reject" | "approve";
  on_reject: "skip" | "fail" | "continue";
  rejected_steps: string[];
}>;
export type SubWorkflowConfig = { type: "sub_workflow"; workflow_name: string } & Optional<{ input: Json }>;
export type WaitConfig = { type: "wait" } & Optional<{ seconds: number | string; until: string }>;
export type MessageConfig = { type: "message"; body: Json } & Optional<{
  to: string;
  channel: string;
  message_type: string;
  wait: boolean;
}>;
export type AuditVerdict = "FAIL" | "ERROR" | "WARN";
export type AuditConfig = { type: "audit"; workspace: string } & Optional<{
  base: string;
  fail_on: AuditVerdict[];
}>;

export type Config =
  | AgentConfig
  | SkillConfig
  | CodeConfig
  | HttpConfig
  | ConditionalConfig
  | LoopConfig
  | ApprovalConfig
  | SubWorkflowConfig
  | WaitConfig
  | MessageConfig
  | AuditConfig;
export type ConfigOf<Type extends StepType> = Extract<Config, { type: Type }>;

export type RetryPolicy = Optional<{
  max_attempts: number;
  strategy: "simple" | "llm_self_correct";
  delay_secs: number;
  factor: number;
  max_delay_secs: number;
  jitter: number;
  retry_on: string[];
}>;
export type OnError = "fail" | "continue" | { goto: string };
export type Point = { x: number; y: number };
export type StepUi = Optional<{ position: Point; group: string; collapsed: boolean }>;

export type Step = { id: string; type: StepType; config: Config } & Optional<{
  name: string;
  depends_on: string[];
  condition: string;
  timeout_secs: number;
  retry: RetryPolicy;
  on_error: OnError;
  ui: StepUi;
}>;

export type InputType = "string" | "number" | "integer" | "boolean" | "array" | "object" | "any";
export type Input = Optional<{
  type: InputType;
  description: string;
  required: boolean;
  default: Json;
  enum: Json[];
}>;

export type ManualTrigger = { type: "manual" };
export type CronTrigger = { type: "cron"; schedule: string } & Optional<{
  timezone: string;
  catch_up: "skip" | "once" | "all";
  inputs: Record<string, Json>;
}>;
export type WebhookAuth = { type: "hmac_sha256" | "bearer_token"; secret_name: string };
export type WebhookTrigger = { type: "webhook"; path: string } & Optional<{
  auth: WebhookAuth;
  when: string;
  tolerance_secs: number;
}>;
export type EventTrigger = { type: "event"; event_type: string } & Optional<{ source: string; when: string }>;
export type FileWatchTrigger = { type: "file_watch"; paths: string[] } & Optional<{
  patterns: string[];
  when: string;
}>;
export type Trigger = ManualTrigger | CronTrigger | WebhookTrigger | EventTrigger | FileWatchTrigger;

export type Owner = { type: "global" } | ({ type: "bot"; slug: string } & Optional<{ bot_id: string }>);

export type Definition = { name: string; steps: Step[] } & Optional<{
  id: string;
  description: string;
  version: string;
  owner: Owner;
  concurrency: number;
  concurrency_policy: "reject" | "queue" | "cancel_previous";
  timeout_secs: number;
  parallel: number;
  inputs: Record<string, Input>;
  triggers: Trigger[];
  finally: string[];
  outputs: Record<string, Json>;
  metadata: Record<string, Json>;
}>;

/** The API returns untyped objects, but the server has validated them. */
export const asDefinition = (read: Record<string, unknown>): Definition => read as unknown as Definition;

export const titleOf = ({ name, id }: Step): string => name || id;

export const stepOf = ({ steps }: Definition, id: string): Step | undefined =>
  steps.find((step) => step.id === id);
