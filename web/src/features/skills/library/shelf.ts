/** What the address of the library says: which skills, and that one is to be installed. */
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

/** Whatever else is there is dropped, not an error: addresses are typed by hand. */
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

/** Every word is in the name, the description or a category, and all that is chosen is so. */
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
