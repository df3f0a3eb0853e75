/** What a person decides about fetched skills: whether to install them, their tier and their grants. */
import type { InstallWish, SkillTier, StagedSkill } from "@/api/types";
import { mentions } from "@/ui/mentions";
import { type Choice, wishesOf } from "../grants/choice";

export type Decision = { isChosen: boolean; tier: SkillTier; grants: Choice };
/** By path, because names may occur twice. */
export type Decisions = Readonly<Record<string, Decision>>;

const UNDECIDED: Decision = { isChosen: false, tier: "untrusted", grants: {} };

/** Whether installing it would change anything. */
export const canInstall = ({ valid, is_same }: StagedSkill): boolean => valid && !is_same;

/** A single skill is selected unless it replaces another; of several, none is. */
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

/** Selects only the first of skills with the same name. */
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

/** `force` is safe: replaced skills were selected explicitly. */
export function wishOf(decisions: Decisions, chosen: readonly StagedSkill[]): InstallWish {
  return {
    skills: chosen.map((skill) => {
      const { tier, grants } = decisionOn(decisions, skill);
      return { name: skill.name, tier, grants: wishesOf(skill.asks, grants) };
    }),
    force: chosen.some(({ replaces }) => Boolean(replaces)),
  };
}

/** Skills that match the words in name, description or path. */
export function fitting(skills: readonly StagedSkill[], words: string): StagedSkill[] {
  return skills.filter(({ name, path, manifest }) =>
    mentions([name, path, manifest?.description ?? ""], words),
  );
}
