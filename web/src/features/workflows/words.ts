/** What starts workflows and how their steps stand, in words. */
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

/** The way to all of them, above the pages of one. */
export const CRUMBS = [{ label: "Workflows", to: "/workflows" }];

export const TRIGGERS: Record<WorkflowTriggerType, { word: string; icon: LucideIcon }> = {
  manual: { word: "by hand", icon: Hand },
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
  retrying: "trying again",
  completed: "completed",
  failed: "failed",
  skipped: "skipped",
  cancelled: "cancelled",
};

const SETTLED: readonly WorkflowStepStatus[] = ["completed", "failed", "skipped", "cancelled"];
export const isSettled = (status: WorkflowStepStatus): boolean => SETTLED.includes(status);

/** Names that are addresses of other pages. */
const TAKEN = ["new", "runs"];

/** How an address calls a workflow: by its name, if that leads to it. */
export const refOf = ({ id, name }: Pick<WorkflowCard, "id" | "name">): string =>
  TAKEN.includes(name) ? id : name;

/** The earliest time at which something starts it by itself; null when nothing will. */
export function nextOf({
  is_enabled,
  triggers,
}: Pick<WorkflowCard, "is_enabled" | "triggers">): string | null {
  if (!is_enabled) return null;
  const times = triggers.flatMap(({ next_at }) => next_at ?? []);
  return times.sort((a, b) => Date.parse(a) - Date.parse(b))[0] ?? null;
}
