/** Labels for how a skill run ended. */
import type { SkillEnd } from "@/api/types";
import type { Tone } from "@/ui/tone";

export const ENDS: Record<SkillEnd, { word: string; meaning: string; tone: Tone }> = {
  running: { word: "running", meaning: "Still running.", tone: "run" },
  done: { word: "done", meaning: "Completed.", tone: "ok" },
  raised: { word: "failed", meaning: "The skill raised an error.", tone: "bad" },
  refused: {
    word: "refused",
    meaning: "It requested access that is not granted.",
    tone: "bad",
  },
  fuel: { word: "out of fuel", meaning: "It exceeded the compute limit of its tier.", tone: "bad" },
  memory: { word: "out of memory", meaning: "It exceeded the memory limit of its tier.", tone: "bad" },
  time: { word: "out of time", meaning: "It exceeded the time limit of its tier.", tone: "bad" },
  stack: { word: "too deep", meaning: "It exceeded the recursion limit.", tone: "bad" },
  output: { word: "invalid output", meaning: "The output is not JSON, or is too large.", tone: "bad" },
  unusable: { word: "unusable", meaning: "The source is invalid or does not define `run`.", tone: "bad" },
  crashed: { word: "crashed", meaning: "Its process ended unexpectedly.", tone: "bad" },
};
