/** What an agent's events say, in words that the log and the transcript share. */
import type { EventOf } from "@/api/types";
import type { Tone } from "@/ui/tone";

export type AgentEnd = EventOf<"agent.ended">["data"]["result"]["end"];
export type Usage = EventOf<"agent.turn">["data"]["usage"];

/** Why an agent stopped. Only `done` is an answer; a limit is worth a look, a refusal or a loop is bad. */
export const END: Record<AgentEnd, { word: string; meaning: string; tone: Tone }> = {
  done: { word: "done", meaning: "It gave its answer.", tone: "ok" },
  turns: { word: "out of turns", meaning: "It used all the turns it was given.", tone: "wait" },
  tokens: { word: "out of tokens", meaning: "It used all the tokens it was given.", tone: "wait" },
  money: { word: "out of money", meaning: "The budget was used up, and no more was allowed.", tone: "wait" },
  time: { word: "out of time", meaning: "It used all the time it was given.", tone: "wait" },
  loop: { word: "stopped in a loop", meaning: "The same call failed again and again.", tone: "bad" },
  refused: { word: "refused", meaning: "The model declined to go on.", tone: "bad" },
  stuck: { word: "stuck", meaning: "The model gave empty or cut-off answers in a row.", tone: "bad" },
  interrupted: {
    word: "interrupted",
    meaning: "Its process died while the model was writing.",
    tone: "wait",
  },
};

/** Everything that was sent and received. */
export const totalOf = ({ input, output, cache_read, cache_write }: Usage): number =>
  input + output + cache_read + cache_write;

/** The four kinds of tokens, which cost differently. */
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

/** What is odd about how an answer ended; nothing for a whole one. */
export const STOP: Record<EventOf<"agent.turn">["data"]["stop"], string | null> = {
  end: null,
  tools: null,
  paused: null,
  length: "Cut off: the answer was longer than it may be.",
  context_full: "Cut off: the conversation no longer fits the model's window.",
  refused: "The model declined to go on.",
};
