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
};

/** `$0.0042`: cents are too coarse for one turn. From a dollar on they are enough. */
export function formatCost(micros: number): string {
  const usd = micros / 1_000_000;
  return `$${usd.toFixed(usd >= 1 || usd === 0 ? 2 : 4)}`;
}

/** `312`, `4.1k`, `1.2M`: tokens at a glance. */
export function formatCount(count: number): string {
  if (count < 1000) return String(count);
  const [value, unit] = count < 999_950 ? [count / 1000, "k"] : [count / 1_000_000, "M"];
  return `${value < 100 ? value.toFixed(1) : Math.round(value)}${unit}`;
}

export const plural = (count: number, one: string): string =>
  `${count.toLocaleString("en")} ${one}${count === 1 ? "" : "s"}`;
