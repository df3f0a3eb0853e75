/** What a skill was granted, against what it is now. */
import type { SkillCapability, SkillDetail, SkillGrant, SkillGrantWish } from "@/api/types";
import { type Choice, grantable, isFree, wishesOf } from "./choice";

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

/** How much of what has to be granted is not. */
export const notGranted = ({ asks, granted }: Pick<SkillDetail, "asks" | "granted">): number =>
  grantable(asks).filter(({ capability }) => !granted.includes(capability)).length;

/** Whether saving the choice would change anything. */
export function isChanged(skill: SkillDetail, choice: Choice): boolean {
  const counting = skill.grants.filter(
    ({ capability }) => !isFree(capability) && skill.granted.includes(capability),
  );
  return written(counting) !== written(wishesOf(skill.asks, choice));
}

const written = (grants: readonly SkillGrantWish[]): string =>
  JSON.stringify(
    grants.map(({ capability, scope }) => [capability, scope.hosts, scope.roots, scope.names]).toSorted(),
  );
