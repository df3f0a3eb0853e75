import type { Interview, Made } from "@/api/types";

const isChange = ({ mode, skill_name }: Interview): boolean =>
  mode === "reconfigure" || (mode === "skill" && Boolean(skill_name));

/** The label of the button that creates or changes it. */
export function createWord(session: Interview, isCreating: boolean): string {
  const { mode, turn } = session;
  if (isCreating) return isChange(session) ? "Changing…" : "Creating…";
  const count = turn?.action === "ready_to_assemble" ? turn.config.variants.length : 0;
  if (count > 0) return `Create ${count} bots`;
  return `${isChange(session) ? "Change" : "Create"} the ${mode === "skill" ? "skill" : "bot"}`;
}

/** The heading of the result. */
export function madeWords(session: Interview, { bots }: Pick<Made, "bots">): string {
  if (bots.length > 1) return "Bots created";
  return `The ${session.mode === "skill" ? "skill" : "bot"} is ${isChange(session) ? "changed" : "created"}`;
}
