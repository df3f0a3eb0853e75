/** The search params of the library; `install` opens the dialog. */
import type { SkillCapability, SkillCard, SkillKind, SkillOrigin, SkillState, SkillTier } from "@/api/types";
import { textOf } from "@/ui/address";
import { mentions } from "@/ui/mentions";
import { CAPABILITIES, KINDS, SOURCES, STATES, TIERS } from "../words";

export type Filter = {
  q?: string | undefined;
  kind?: SkillKind | undefined;
  tier?: SkillTier | undefined;
  state?: SkillState | undefined;
  capability?: SkillCapability | undefined;
  source?: SkillOrigin["type"] | undefined;
};

export type Shelf = Filter & { install?: true | undefined };

const oneOf = <Value extends string>(known: Record<Value, unknown>, value: unknown): Value | undefined =>
  (Object.keys(known) as Value[]).find((one) => one === value);

/** Invalid params are ignored, since addresses can be typed by hand. */
export function readShelf(search: Record<string, unknown>): Shelf {
  return {
    q: textOf(search.q),
    kind: oneOf(KINDS, search.kind),
    tier: oneOf(TIERS, search.tier),
    state: oneOf(STATES, search.state),
    capability: oneOf(CAPABILITIES, search.capability),
    source: oneOf(SOURCES, search.source),
    install: search.install === true ? true : undefined,
  };
}

export const isFiltered = (filter: Filter): boolean => Object.values(filter).some((one) => one !== undefined);

/** Whether every word occurs in the name, description or a category, and all filters match. */
export function fits(skill: SkillCard, { q = "", kind, tier, state, capability, source }: Filter): boolean {
  return (
    (kind ?? skill.kind) === skill.kind &&
    (tier ?? skill.tier) === skill.tier &&
    (state ?? skill.state) === skill.state &&
    (source ?? skill.source.type) === skill.source.type &&
    (capability === undefined || skill.capabilities.includes(capability)) &&
    mentions([skill.name, skill.description, ...skill.categories], q)
  );
}
