/** Status labels of bots, and the search filter. */
import type { Bot } from "@/api/types";
import { mentions } from "@/ui/mentions";
import type { Tone } from "@/ui/tone";

type BotState = { word: string; tone: Tone };

/** The most important status first: deleted, disabled, blocked, answering, ready. */
export function stateOf({ deleted_at, status, blocked, answering }: Bot): BotState {
  if (deleted_at) return { word: "deleted", tone: "idle" };
  if (status !== "active") return { word: status, tone: "idle" };
  if (blocked) return { word: "blocked", tone: "wait" };
  if (answering > 0) return { word: "answering", tone: "run" };
  return { word: "ready", tone: "ok" };
}

const KEPT_DAYS = 30;
const DAY_MS = 86_400_000;

/** Whole days until a deleted bot is removed permanently. */
export function daysLeft(deletedAt: string, now: number): number {
  return Math.max(0, Math.ceil((Date.parse(deletedAt) - now) / DAY_MS + KEPT_DAYS));
}

/** Whether every word occurs in the name, slug, description or a tag. */
export function isNamed({ slug, identity }: Bot, words: string): boolean {
  return mentions([identity.display_name, slug, identity.description, ...identity.tags], words);
}
