/** Labels shared by the agent's log and transcript. */
import type { EventOf } from "@/api/types";
import type { Tone } from "@/ui/tone";

export type AgentEnd = EventOf<"agent.ended">["data"]["result"]["end"];
export type Usage = EventOf<"agent.turn">["data"]["usage"];

/** Why an agent ended. `done` is a result, a doubtful one and limits need attention, refusals and loops are failures. */
export const END: Record<AgentEnd, { word: string; meaning: string; tone: Tone }> = {
  done: { word: "done", meaning: "The agent finished.", tone: "ok" },
  unfinished: {
    word: "unfinished",
    meaning: "The agent stopped without finishing, or while the tests were failing.",
    tone: "wait",
  },
  unverified: {
    word: "unverified",
    meaning: "The agent claims a result that nothing it ran has shown.",
    tone: "wait",
  },
  turns: { word: "out of turns", meaning: "The turn limit was reached.", tone: "wait" },
  tokens: { word: "out of tokens", meaning: "The token limit was reached.", tone: "wait" },
  money: { word: "out of money", meaning: "The budget was exhausted and not extended.", tone: "wait" },
  time: { word: "out of time", meaning: "The time limit was reached.", tone: "wait" },
  loop: { word: "stopped in a loop", meaning: "The same call kept failing.", tone: "bad" },
  refused: { word: "refused", meaning: "The model refused to continue.", tone: "bad" },
  stuck: {
    word: "stuck",
    meaning: "The model returned several empty or truncated answers in a row.",
    tone: "bad",
  },
  interrupted: {
    word: "interrupted",
    meaning: "The process died while the model was writing.",
    tone: "wait",
  },
};

/** All tokens sent and received. */
export const totalOf = ({ input, output, cache_read, cache_write }: Usage): number =>
  input + output + cache_read + cache_write;

/** The four kinds of tokens, which have different prices. */
export const tokenKinds = (usage: Usage): readonly (readonly [string, number])[] => [
  ["sent", usage.input],
  ["sent from cache", usage.cache_read],
  ["sent to cache", usage.cache_write],
  ["received", usage.output],
];

export const tokenWords = (usage: Usage): string =>
  tokenKinds(usage)
    .map(([name, count]) => `${count.toLocaleString("en")} ${name}`)
    .join("\n");

/** Why an answer is incomplete; null for a complete one. */
export const STOP: Record<EventOf<"agent.turn">["data"]["stop"], string | null> = {
  end: null,
  tools: null,
  paused: null,
  length: "Cut off: the answer reached its length limit.",
  repeated: "Stopped: the model kept repeating itself.",
  context_full: "Cut off: the conversation exceeds the model's context window.",
  refused: "The model refused to continue.",
};
