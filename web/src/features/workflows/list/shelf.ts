/** What the address of the list says: which workflows. */
import type { WorkflowCard } from "@/api/types";
import { textOf } from "@/ui/address";
import { mentions } from "@/ui/mentions";

export const SHOWN = ["all", "on", "off"] as const;
export type Shelf = { q?: string | undefined; show?: "on" | "off" | undefined };

/** Whatever else is there is dropped, not an error: addresses are typed by hand. */
export function readShelf({ q, show }: Record<string, unknown>): Shelf {
  return {
    q: textOf(q),
    show: show === "on" || show === "off" ? show : undefined,
  };
}

/** Those that fit; what waits for somebody comes first. */
export function shownOf(workflows: readonly WorkflowCard[], shelf: Shelf): WorkflowCard[] {
  return workflows
    .filter((workflow) => fits(workflow, shelf))
    .sort((a, b) => Number(b.open_gates > 0) - Number(a.open_gates > 0));
}

/** Every word is in its name, its description, its owner or what starts it. */
export function fits(workflow: WorkflowCard, { q = "", show }: Shelf): boolean {
  const { name, description, owner, triggers } = workflow;
  return (
    (show === undefined || workflow.is_enabled === (show === "on")) &&
    mentions([name, description, owner ?? "", ...triggers.map(({ title }) => title)], q)
  );
}
