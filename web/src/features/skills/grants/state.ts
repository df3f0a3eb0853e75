/** The grants of a skill, compared with its current state. */
import type { SkillCapability, SkillDetail, SkillGrant, SkillGrantWish } from "@/api/types";
import { type Choice, grantable, isFree, wishesOf } from "./choice";

export type Standing = { grant: SkillGrant | null; counts: boolean };

export function standingOf(skill: SkillDetail, capability: SkillCapability): Standing {
  const grant = skill.grants.find((one) => one.capability === capability) ?? null;
  return { grant, counts: grant !== null && skill.granted.includes(capability) };
}

/** The skill was changed after it was granted. */
export const isEdited = (skill: SkillDetail): boolean =>
  skill.grants.some(({ folder_hash }) => folder_hash !== skill.folder_hash);

/** The current grants, as a starting point for a new review. */
export function choiceOf({ asks, grants }: SkillDetail): Choice {
  const asked = new Set(asks.map(({ capability }) => capability));
  return Object.fromEntries(
    grants.flatMap(({ capability, scope }) => (asked.has(capability) ? [[capability, scope]] : [])),
  );
}

/** The number of requests that are not granted. */
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
