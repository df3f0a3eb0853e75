/** Skills for tests: short to write, true to the schema. */
import type { SkillAsk, SkillCapability, SkillCard, SkillDetail, SkillGrant, SkillScope } from "@/api/types";
import { time } from "./events";

export const scope = (changes: Partial<SkillScope> = {}): SkillScope => ({
  hosts: [],
  roots: [],
  names: [],
  ...changes,
});

export function card(changes: Partial<SkillCard> = {}): SkillCard {
  return {
    name: "weather",
    description: "Says what to wear.",
    kind: "script",
    version: "1.2.0",
    tier: "untrusted",
    source: { type: "own" },
    state: "ready",
    problem: null,
    capabilities: [],
    granted: [],
    categories: [],
    bots: [],
    changed_at: time(0),
    ...changes,
  };
}

export const ask = (capability: SkillCapability, changes: Partial<SkillAsk> = {}): SkillAsk => ({
  capability,
  scope: scope(),
  title: `use ${capability}`,
  allows: `It may use ${capability}.`,
  risk: `Beware of ${capability}.`,
  from_parent: null,
  is_needed: false,
  ...changes,
});

export const grant = (capability: SkillCapability, changes: Partial<SkillGrant> = {}): SkillGrant => ({
  capability,
  scope: scope(),
  folder_hash: "now",
  granted_at: time(0),
  granted_by: "ada",
  ...changes,
});

export function detail(changes: Partial<SkillDetail> = {}): SkillDetail {
  return {
    ...card(),
    manifest: null,
    body: "",
    folder: "/data/skills/weather",
    folder_hash: "now",
    entry: "skill.js",
    files: [],
    problems: [],
    asks: [],
    grants: [],
    limits: { memory_bytes: 16_777_216, fuel: 20_000_000_000, seconds: 10 },
    dependencies: [],
    conflicts: [],
    parents: [],
    tests: [],
    installed_at: time(0),
    ...changes,
  };
}
