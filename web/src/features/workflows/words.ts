/** Labels for triggers and step statuses. */
import {
  CalendarClock,
  Files,
  Hand,
  type LucideIcon,
  Radio,
  RotateCcw,
  Webhook,
  Workflow as WorkflowIcon,
} from "lucide-react";
import type { WorkflowCard, WorkflowStepStatus, WorkflowTriggerType } from "@/api/types";

/** Breadcrumbs of the pages of one workflow. */
export const CRUMBS = [{ label: "Workflows", to: "/workflows" }];

export const TRIGGERS: Record<WorkflowTriggerType, { word: string; icon: LucideIcon }> = {
  manual: { word: "manual", icon: Hand },
  cron: { word: "schedule", icon: CalendarClock },
  webhook: { word: "webhook", icon: Webhook },
  event: { word: "event", icon: Radio },
  file_watch: { word: "files", icon: Files },
  sub_workflow: { word: "another workflow", icon: WorkflowIcon },
  retry: { word: "retry", icon: RotateCcw },
};

export const STEP_WORD: Record<WorkflowStepStatus, string> = {
  running: "running",
  waiting: "waiting",
  retrying: "retrying",
  completed: "completed",
  failed: "failed",
  skipped: "skipped",
  cancelled: "cancelled",
};

const SETTLED: readonly WorkflowStepStatus[] = ["completed", "failed", "skipped", "cancelled"];
export const isSettled = (status: WorkflowStepStatus): boolean => SETTLED.includes(status);

/** Names that would conflict with other routes. */
const TAKEN = ["new", "runs"];

/** How URLs refer to a workflow: by its name unless that is reserved. */
export const refOf = ({ id, name }: Pick<WorkflowCard, "id" | "name">): string =>
  TAKEN.includes(name) ? id : name;

/** The next scheduled start; null if there is none. */
export function nextOf({
  is_enabled,
  triggers,
}: Pick<WorkflowCard, "is_enabled" | "triggers">): string | null {
  if (!is_enabled) return null;
  const times = triggers.flatMap(({ next_at }) => next_at ?? []);
  return times.sort((a, b) => Date.parse(a) - Date.parse(b))[0] ?? null;
}
