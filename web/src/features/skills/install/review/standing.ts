/** How a fetched skill compares to the library. */
import type { StagedSkill } from "@/api/types";
import type { Tone } from "@/ui/tone";

export type Standing = "new" | "other" | "same" | "broken";

export const STANDINGS: Record<Standing, { word: string; tone: Tone }> = {
  new: { word: "new", tone: "ok" },
  other: { word: "replaces", tone: "wait" },
  same: { word: "installed", tone: "idle" },
  broken: { word: "unusable", tone: "bad" },
};

export function standingOf({ valid, is_same, replaces }: StagedSkill): Standing {
  if (!valid) return "broken";
  if (is_same) return "same";
  return replaces ? "other" : "new";
}
