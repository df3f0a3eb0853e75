/** Icons, labels and colors of step types and statuses. */
import {
  Bot,
  Braces,
  CirclePause,
  Globe,
  type LucideIcon,
  MessageSquare,
  Repeat,
  ShieldCheck,
  Split,
  UserCheck,
  Workflow,
  Wrench,
} from "lucide-react";
import type { WorkflowStepStatus } from "@/api/types";
import type { Tone } from "@/ui/tone";
import type { StepType } from "../definition/model";

export type StepLook = { icon: LucideIcon; word: string; meaning: string };

/** In palette order. */
export const STEP_LOOKS: Record<StepType, StepLook> = {
  agent: { icon: Bot, word: "Bot", meaning: "Ask a bot" },
  skill: { icon: Wrench, word: "Skill", meaning: "Run a skill of the library" },
  http: { icon: Globe, word: "HTTP", meaning: "Call another server" },
  code: { icon: Braces, word: "Code", meaning: "JavaScript or Python code" },
  conditional: { icon: Split, word: "Condition", meaning: "If / else" },
  loop: { icon: Repeat, word: "Loop", meaning: "For each item, or while a condition holds" },
  approval: { icon: UserCheck, word: "Approval", meaning: "Wait for a person's approval" },
  sub_workflow: { icon: Workflow, word: "Workflow", meaning: "Run another workflow" },
  wait: { icon: CirclePause, word: "Wait", meaning: "For a duration, or until a time" },
  message: { icon: MessageSquare, word: "Message", meaning: "Send to a bot or a channel" },
  audit: { icon: ShieldCheck, word: "Audit", meaning: "Audit a workspace" },
};

export const STEP_TYPES = Object.keys(STEP_LOOKS) as StepType[];

/** The data type of a dragged palette step. */
export const DRAGGED = "application/x-forge-step";

export const STEP_TONE: Record<WorkflowStepStatus, Tone> = {
  running: "run",
  waiting: "wait",
  retrying: "run",
  completed: "ok",
  failed: "bad",
  skipped: "idle",
  cancelled: "idle",
};

/** The border of a step by status. */
export const RING: Record<WorkflowStepStatus, string> = {
  running: "border-run ring-1 ring-run/40",
  waiting: "border-wait ring-1 ring-wait/40",
  retrying: "border-run ring-1 ring-run/40",
  completed: "border-ok/60",
  failed: "border-bad ring-1 ring-bad/40",
  skipped: "border-strong",
  cancelled: "border-strong",
};
