/** The grants that a person is choosing for a skill. */
import type { SkillAsk, SkillCapability, SkillGrantWish, SkillScope } from "@/api/types";

/** The scope of each granted capability; missing ones are not granted. */
export type Choice = Partial<Record<SkillCapability, SkillScope>>;

export type Reach = keyof SkillScope;

type ReachWords = {
  label: string;
  one: string;
  example: string;
  empty: string;
  isOne: RegExp;
  wrong: string;
};

const HOST = /^(\*|(\*\.)?[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?|\[[0-9a-f:.]+\])(:[0-9]{1,5})?$/;

export const REACHES: Record<Reach, ReachWords> = {
  hosts: {
    label: "Hosts",
    one: "host",
    example: "api.example.com",
    empty: "At least one host is required.",
    isOne: HOST,
    wrong: "Use api.example.com, *.example.com or example.com:8443; * allows all hosts.",
  },
  roots: {
    label: "Folders",
    one: "folder",
    example: "/srv/reports",
    empty: "Only the skill's own folder.",
    isOne: /^\//,
    wrong: "Use an absolute path.",
  },
  names: {
    label: "Names",
    one: "name",
    example: "API_TOKEN",
    empty: "At least one name is required.",
    isOne: /^[A-Za-z0-9_.+-]{1,100}$/,
    wrong: "Names can contain letters, digits and _ . + -",
  },
};

const REACH_OF: Partial<Record<SkillCapability, Reach>> = {
  read_file: "roots",
  write_file: "roots",
  http_get: "hosts",
  http_post: "hosts",
  read_env: "names",
  get_secret: "names",
  exec_command: "names",
};

/** The kind of scope that a capability needs; null if none. */
export const reachOf = (capability: SkillCapability): Reach | null => REACH_OF[capability] ?? null;

/** Every skill may write to the log of its own run, so this needs no grant. */
export const isFree = (capability: SkillCapability): boolean => capability === "log";

/** The requests that need a grant. */
export const grantable = (asks: readonly SkillAsk[]): SkillAsk[] =>
  asks.filter(({ capability }) => !isFree(capability));

/** In the order of the requests. */
export function wishesOf(asks: readonly SkillAsk[], choice: Choice): SkillGrantWish[] {
  return grantable(asks).flatMap((ask) => {
    const scope = choice[ask.capability];
    return scope && !isEmptied(ask, scope) ? [{ capability: ask.capability, scope }] : [];
  });
}

/** A scope without values grants nothing, except folders: the skill's own folder remains. */
export function isEmptied({ capability, scope: asked }: SkillAsk, given: SkillScope): boolean {
  const reach = reachOf(capability);
  return reach !== null && reach !== "roots" && given[reach].length === 0 && asked[reach].length > 0;
}

/** Grant a request with the scope it asks for, or remove it. */
export function withAsk(choice: Choice, { capability, scope }: SkillAsk, isAllowed: boolean): Choice {
  const { [capability]: _, ...others } = choice;
  return isAllowed ? { ...others, [capability]: scope } : others;
}

export function withScope(choice: Choice, capability: SkillCapability, scope: SkillScope): Choice {
  return { ...choice, [capability]: scope };
}

/** What a skill requests beyond the given scope. */
export const missing = ({ scope: asked }: SkillAsk, given: SkillScope, reach: Reach): string[] =>
  given[reach].includes("*") ? [] : asked[reach].filter((value) => !given[reach].includes(value));
