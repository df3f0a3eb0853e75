/** What a person decides about skills that were fetched: which of them, how far trusted, and with what. */
import type { InstallWish, SkillTier, StagedSkill } from "@/api/types";
import { mentions } from "@/ui/mentions";
import { type Choice, wishesOf } from "../grants/choice";

export type Decision = { isChosen: boolean; tier: SkillTier; grants: Choice };
/** By the place in what was fetched: names may come twice. */
export type Decisions = Readonly<Record<string, Decision>>;

const UNDECIDED: Decision = { isChosen: false, tier: "untrusted", grants: {} };

/** Something would come of installing it. */
export const canInstall = ({ valid, is_same }: StagedSkill): boolean => valid && !is_same;

/** One alone is what somebody came for, unless it would replace another; of many, nothing is taken for granted. */
export function firstDecisions(skills: readonly StagedSkill[], isUpdate: boolean): Decisions {
  const [only] = skills;
  if (!only || skills.length > 1 || !canInstall(only) || (only.replaces && !isUpdate)) return {};
  return { [only.path]: { ...UNDECIDED, isChosen: true } };
}

export const decisionOn = (decisions: Decisions, { path }: StagedSkill): Decision =>
  decisions[path] ?? UNDECIDED;

export function decide(decisions: Decisions, skill: StagedSkill, change: Partial<Decision>): Decisions {
  return { ...decisions, [skill.path]: { ...decisionOn(decisions, skill), ...change } };
}

/** Of two with one name the first: only one of them can be in the library. */
export function chooseAll(decisions: Decisions, skills: readonly StagedSkill[]): Decisions {
  const names = new Set<string>();
  let next = decisions;
  for (const skill of skills) {
    if (!canInstall(skill) || names.has(skill.name)) continue;
    names.add(skill.name);
    next = decide(next, skill, { isChosen: true });
  }
  return next;
}

export function chooseNone(decisions: Decisions, skills: readonly StagedSkill[]): Decisions {
  return skills.reduce((next, skill) => decide(next, skill, { isChosen: false }), decisions);
}

export const chosenOf = (decisions: Decisions, skills: readonly StagedSkill[]): StagedSkill[] =>
  skills.filter((skill) => canInstall(skill) && decisionOn(decisions, skill).isChosen);

/** Whoever chose one that replaces another has seen that it does. */
export function wishOf(decisions: Decisions, chosen: readonly StagedSkill[]): InstallWish {
  return {
    skills: chosen.map((skill) => {
      const { tier, grants } = decisionOn(decisions, skill);
      return { name: skill.name, tier, grants: wishesOf(skill.asks, grants) };
    }),
    force: chosen.some(({ replaces }) => Boolean(replaces)),
  };
}

/** Those that are looked for: by words in the name, the description or the path. */
export function fitting(skills: readonly StagedSkill[], words: string): StagedSkill[] {
  return skills.filter(({ name, path, manifest }) =>
    mentions([name, path, manifest?.description ?? ""], words),
  );
}
