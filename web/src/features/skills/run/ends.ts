/** How a run of a skill ended, in words. */
import type { SkillEnd } from "@/api/types";
import type { Tone } from "@/ui/tone";

export const ENDS: Record<SkillEnd, { word: string; meaning: string; tone: Tone }> = {
  running: { word: "running", meaning: "It has not ended yet.", tone: "run" },
  done: { word: "done", meaning: "It gave an answer.", tone: "ok" },
  raised: { word: "failed", meaning: "It failed by itself, with an error it did not catch.", tone: "bad" },
  refused: {
    word: "refused",
    meaning: "It reached for something nobody granted; that ended it at once.",
    tone: "bad",
  },
  fuel: { word: "out of fuel", meaning: "It computed for longer than its tier allows.", tone: "bad" },
  memory: { word: "out of memory", meaning: "It wanted more memory than its tier allows.", tone: "bad" },
  time: { word: "out of time", meaning: "It took longer than its tier allows.", tone: "bad" },
  stack: { word: "too deep", meaning: "It called itself without an end.", tone: "bad" },
  output: { word: "no answer", meaning: "What it gave is no JSON, or too much of it.", tone: "bad" },
  unusable: { word: "unusable", meaning: "Its source cannot be read, or has no `run` in it.", tone: "bad" },
  crashed: { word: "crashed", meaning: "The process it ran in ended.", tone: "bad" },
};
