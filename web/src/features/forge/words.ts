/** Labels of interviews and their phases. */
import type { Interview, InterviewDraft, InterviewMode, InterviewPhase } from "@/api/types";

export const PHASES: readonly InterviewPhase[] = ["basics", "personality", "model", "skills", "review"];

const OF_BOTS: Record<InterviewPhase, string> = {
  basics: "Basics",
  personality: "Personality",
  model: "Model",
  skills: "Skills",
  review: "Review",
};
const OF_SKILLS: Record<InterviewPhase, string> = {
  basics: "What it does",
  personality: "When it is used",
  model: "How it works",
  skills: "Permissions",
  review: "Review",
};

export const phaseName = (mode: InterviewMode, phase: InterviewPhase): string =>
  (mode === "skill" ? OF_SKILLS : OF_BOTS)[phase];

export const MODE_WORD: Record<InterviewMode, string> = {
  bot: "bot",
  skill: "skill",
  reconfigure: "change",
  batch: "several bots",
};

const LONGEST_NAME = 60;

/** The name of what is being created, as far as it is known. */
export function nameOf(draft: Pick<InterviewDraft, "name" | "initial_description" | "mode">): string {
  const words = draft.name ?? draft.initial_description.trim().split(/\s+/).join(" ");
  if (words === "") return draft.mode === "skill" ? "a new skill" : "a new bot";
  return words.length > LONGEST_NAME ? `${words.slice(0, LONGEST_NAME - 1)}…` : words;
}

const TITLES: Record<InterviewMode, [nameless: string, named: (name: string) => string]> = {
  bot: ["New bot", (name) => `New bot: ${name}`],
  skill: ["New skill", (name) => `New skill: ${name}`],
  reconfigure: ["Change a bot", (name) => `Change ${name}`],
  batch: ["Several bots", (name) => `Several bots: ${name}`],
};

export function titleOf({ mode, preview, skill_name }: Interview): string {
  if (mode === "skill" && skill_name) return `Change ${skill_name}`;
  const [nameless, named] = TITLES[mode];
  return preview.name ? named(preview.name) : nameless;
}

/** The model without its provider: `claude-sonnet-4-5` for `anthropic:claude-sonnet-4-5`. */
export const shortModel = (ref: string): string => ref.slice(ref.indexOf(":") + 1);
