/** What a bot is doing, in a word and a colour; and whether it is one of those a person looks for. */
import type { Bot } from "@/api/types";
import { mentions } from "@/ui/mentions";
import type { Tone } from "@/ui/tone";

type BotState = { word: string; tone: Tone };

/** The first thing that matters: gone, put away, waiting for a person, busy, ready. */
export function stateOf({ deleted_at, status, blocked, answering }: Bot): BotState {
  if (deleted_at) return { word: "deleted", tone: "idle" };
  if (status !== "active") return { word: status, tone: "idle" };
  if (blocked) return { word: "blocked", tone: "wait" };
  if (answering > 0) return { word: "answering", tone: "run" };
  return { word: "ready", tone: "ok" };
}

const KEPT_DAYS = 30;
const DAY_MS = 86_400_000;

/** Whole days until a deleted bot is gone for good. */
export function daysLeft(deletedAt: string, now: number): number {
  return Math.max(0, Math.ceil((Date.parse(deletedAt) - now) / DAY_MS + KEPT_DAYS));
}

/** Every word is in the name, the slug, the description or a tag. */
export function isNamed({ slug, identity }: Bot, words: string): boolean {
  return mentions([identity.display_name, slug, identity.description, ...identity.tags], words);
}
