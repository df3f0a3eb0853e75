/** The search params of the workflow list. */
import type { WorkflowCard } from "@/api/types";
import { textOf } from "@/ui/address";
import { mentions } from "@/ui/mentions";

export const SHOWN = ["all", "on", "off"] as const;
export type Shelf = { q?: string | undefined; show?: "on" | "off" | undefined };

/** Invalid params are ignored, since addresses can be typed by hand. */
export function readShelf({ q, show }: Record<string, unknown>): Shelf {
  return {
    q: textOf(q),
    show: show === "on" || show === "off" ? show : undefined,
  };
}

/** The matching workflows; those with open questions come first. */
export function shownOf(workflows: readonly WorkflowCard[], shelf: Shelf): WorkflowCard[] {
  return workflows
    .filter((workflow) => fits(workflow, shelf))
    .sort((a, b) => Number(b.open_gates > 0) - Number(a.open_gates > 0));
}

/** Whether every word occurs in the name, description, owner or triggers. */
export function fits(workflow: WorkflowCard, { q = "", show }: Shelf): boolean {
  const { name, description, owner, triggers } = workflow;
  return (
    (show === undefined || workflow.is_enabled === (show === "on")) &&
    mentions([name, description, owner ?? "", ...triggers.map(({ title }) => title)], q)
  );
}
