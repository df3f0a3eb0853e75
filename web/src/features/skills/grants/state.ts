/** What a skill was granted, against what it is now. */
import type { SkillCapability, SkillDetail, SkillGrant } from "@/api/types";
import type { Choice } from "./choice";

export type Standing = { grant: SkillGrant | null; counts: boolean };

export function standingOf(skill: SkillDetail, capability: SkillCapability): Standing {
  const grant = skill.grants.find((one) => one.capability === capability) ?? null;
  return { grant, counts: grant !== null && skill.granted.includes(capability) };
}

/** The skill is not the one that was granted this any more. */
export const isEdited = (skill: SkillDetail): boolean =>
  skill.grants.some(({ folder_hash }) => folder_hash !== skill.folder_hash);

/** Whatever was granted before, so that reviewing again begins where the last review ended. */
export function choiceOf({ asks, grants }: SkillDetail): Choice {
  const asked = new Set(asks.map(({ capability }) => capability));
  return Object.fromEntries(
    grants.flatMap(({ capability, scope }) => (asked.has(capability) ? [[capability, scope]] : [])),
  );
}

/** Whether saving the choice would change anything. */
export function isChanged(skill: SkillDetail, choice: Choice): boolean {
  const counting = skill.grants.filter(({ capability }) => skill.granted.includes(capability));
  const before = Object.fromEntries(counting.map(({ capability, scope }) => [capability, scope]));
  return written(before) !== written(choice);
}

const written = (choice: Choice): string => JSON.stringify(Object.entries(choice).toSorted(byName));
const byName = ([a]: [string, unknown], [b]: [string, unknown]): number => a.localeCompare(b);
