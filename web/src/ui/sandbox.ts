/** How well commands are locked in, in words. */
import type { Tone } from "./tone";

export type SandboxWords = { word: string; meaning: string; tone: Tone };

const LEVELS: Record<string, SandboxWords> = {
  isolated: {
    word: "isolated",
    meaning: "Commands see, reach and change nothing but their own workspace.",
    tone: "ok",
  },
  partial: {
    word: "partly isolated",
    meaning: "Commands cannot read or write files outside, nor use the network; some other things they can.",
    tone: "wait",
  },
  none: {
    word: "not isolated",
    meaning: "Commands can do whatever Forge itself can do on this machine.",
    tone: "bad",
  },
};

export const sandboxWords = (level: string): SandboxWords =>
  LEVELS[level] ?? { word: level, meaning: "", tone: "idle" };
