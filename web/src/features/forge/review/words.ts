import type { Interview } from "@/api/types";

/** What the button does that makes it. */
export function createWord({ mode, turn }: Interview, isCreating: boolean): string {
  if (mode === "reconfigure") return isCreating ? "Changing…" : "Change the bot";
  if (isCreating) return "Creating…";
  if (mode === "skill") return "Create the skill";
  const count = turn?.action === "ready_to_assemble" ? turn.config.variants.length : 0;
  return count > 0 ? `Create ${count} bots` : "Create the bot";
}
