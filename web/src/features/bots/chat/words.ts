/** Labels for answers: how they were made, how they ended, and suggestions for the first message. */
import type { Bot, ChatMessage } from "@/api/types";
import { formatMicros, formatTokens } from "@/ui/money";
import { formatDuration } from "@/ui/time";
import type { Tone } from "@/ui/tone";

type Facts = NonNullable<ChatMessage["answer"]>;
type Stop = NonNullable<Facts["stop"]>;

/** `demo:coder · temp 0.7 · 1.2k in (800 cached) · 340 out · $0.0042 · 3.1s`; unknown parts are omitted. */
export function factsOf({ model, temperature, usage, cost_micros, duration_ms }: Facts): string {
  const sent = usage.input + usage.cache_read + usage.cache_write;
  const cached = usage.cache_read > 0 ? ` (${formatTokens(usage.cache_read)} cached)` : "";
  const tokens = [`${formatTokens(sent)} in${cached}`, `${formatTokens(usage.output)} out`];
  return [
    model,
    temperature == null ? "" : `temp ${temperature}`,
    ...(sent + usage.output > 0 ? tokens : []),
    model || cost_micros > 0 ? formatMicros(cost_micros) : "",
    duration_ms == null ? "" : formatDuration(duration_ms),
  ]
    .filter(Boolean)
    .join(" · ");
}

/** Exact token counts, for the tooltip. */
export function tokensOf({ usage, max_tokens, soul_version, first_token_ms }: Facts): string {
  const number = (count: number) => count.toLocaleString("en");
  return [
    `${number(usage.input)} sent`,
    `${number(usage.cache_read)} sent from cache`,
    `${number(usage.cache_write)} sent to cache`,
    `${number(usage.output)} received (limit ${number(max_tokens)})`,
    ...(first_token_ms == null ? [] : [`first token after ${formatDuration(first_token_ms)}`]),
    `soul version ${soul_version}`,
  ].join("\n");
}

type End = { word: string; meaning: string; tone: Tone };

const CUT: Record<Stop, string | null> = {
  end: null,
  tools: null,
  paused: null,
  length: "The answer reached its length limit. Raise the token limit in the bot's settings.",
  repeated: "The model kept repeating itself, so its answer was stopped.",
  context_full: "The conversation exceeds the model's context window.",
  refused: "The model refused to continue.",
};

/** null for a complete answer, one in progress, or a failed one, which shows its error instead. */
export function endOf({ status, answer }: Pick<ChatMessage, "status" | "answer">): End | null {
  if (status === "stopped")
    return { word: "stopped", meaning: "The text received so far is kept.", tone: "idle" };
  if (status === "interrupted")
    return {
      word: "interrupted",
      meaning: "Forge stopped while the answer was being written.",
      tone: "wait",
    };
  const cut = status === "done" && answer?.stop ? CUT[answer.stop] : null;
  return cut
    ? { word: answer?.stop === "refused" ? "refused" : "cut off", meaning: cut, tone: "wait" }
    : null;
}

/** Announced to screen readers when an answer ends. */
export const announcementOf = (name: string, { status }: ChatMessage): string =>
  status === "done" ? `${name} has answered.` : `Answer from ${name}: ${status}.`;

const NEXT: Record<Bot["identity"]["category"], string> = {
  assistant: "What do you need to know from me first?",
  creative: "Surprise me with a first idea.",
  research: "How would you find out whether something is true?",
  utility: "Show me one short example of what you do.",
};

/** Three suggestions, based on the bot's description. */
export function examplesOf({ display_name, description, category }: Bot["identity"]): readonly string[] {
  const about =
    description
      .trim()
      .split(/(?<=[.!?])\s|\n/)[0]
      ?.replace(/[.!?]+$/, "") ?? "";
  const opening = about ? `“${about}”: where do we start?` : `What can you help me with, ${display_name}?`;
  return [opening, NEXT[category], "What should I never ask you to do?"];
}

/** Why the bot cannot be messaged and where to change that; null if it can. */
export function refusalOf(bot: Bot): { reason: string; tab: "soul" | "settings"; label: string } | null {
  if (bot.status !== "active") {
    return {
      reason: `This bot is ${bot.status} and does not answer.`,
      tab: "settings",
      label: "Open settings",
    };
  }
  return bot.blocked ? { reason: bot.blocked, tab: "soul", label: "Open files" } : null;
}
