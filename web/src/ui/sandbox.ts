/** Labels of the isolation levels. */
import type { Tone } from "./tone";

export type SandboxWords = { word: string; meaning: string; tone: Tone };

const LEVELS: Record<string, SandboxWords> = {
  isolated: {
    word: "isolated",
    meaning: "Commands can only see, access and change their own workspace.",
    tone: "ok",
  },
  partial: {
    word: "partly isolated",
    meaning: "Commands cannot access files outside or the network. Other isolation is limited.",
    tone: "wait",
  },
  none: {
    word: "not isolated",
    meaning: "Commands have the same access to this machine as Forge itself.",
    tone: "bad",
  },
};

export const sandboxWords = (level: string): SandboxWords =>
  LEVELS[level] ?? { word: level, meaning: "", tone: "idle" };
