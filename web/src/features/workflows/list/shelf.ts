/** What the address of the list says: which workflows. */
import type { WorkflowCard } from "@/api/types";

export const SHOWN = ["all", "on", "off"] as const;
export type Shelf = { q?: string | undefined; show?: "on" | "off" | undefined };

/** Whatever else is there is dropped, not an error: addresses are typed by hand. */
export function readShelf({ q, show }: Record<string, unknown>): Shelf {
  return {
    // A search for digits alone comes as a number.
    q: typeof q === "string" || typeof q === "number" ? String(q) || undefined : undefined,
    show: show === "on" || show === "off" ? show : undefined,
  };
}

/** Every word is in its name, its description, its owner or what starts it. */
export function fits(workflow: WorkflowCard, { q = "", show }: Shelf): boolean {
  const { name, description, owner, triggers } = workflow;
  const text = [name, description, owner ?? "", ...triggers.map(({ title }) => title)]
    .join("\n")
    .toLowerCase();
  return (
    (show === undefined || workflow.is_enabled === (show === "on")) &&
    q
      .toLowerCase()
      .split(/\s+/)
      .every((word) => text.includes(word))
  );
}
