/** Conversion between a bot skill's settings and its form. */
import type { BotSkill, BotSkillChange } from "@/api/types";

export type Setup = {
  version: string;
  description: string;
  /** One setting per line: `name = value`. */
  settings: string;
  /** null: everything that is granted. */
  allowed: readonly string[] | null;
};

/** Overrides that are not settings: the description for the bot, and Forge's own marker. */
const OWN = ["description", "origin"];
/** Needs no grant, so a list of only this capability allows nothing. */
export const FREE = "log";

export function setupOf({ pin, overrides, narrowed }: BotSkill): Setup {
  const lines = Object.entries(overrides)
    .filter(([key]) => !OWN.includes(key))
    .map(([key, value]) => `${key} = ${value}`);
  return {
    version: pin ?? "",
    description: overrides.description ?? "",
    settings: lines.join("\n"),
    allowed: narrowed ?? null,
  };
}

export function changeOf(setup: Setup, { overrides }: BotSkill): BotSkillChange {
  const { origin } = overrides;
  const description = setup.description.trim();
  return {
    version: setup.version.trim() || null,
    overrides: {
      ...(origin !== undefined && { origin }),
      ...(description && { description }),
      ...settingsOf(setup.settings),
    },
    capabilities: setup.allowed && (setup.allowed.length > 0 ? [...setup.allowed] : [FREE]),
  } as BotSkillChange;
}

function settingsOf(text: string): Record<string, string> {
  const pairs = text.split("\n").flatMap((line) => {
    const [key = "", ...value] = line.split("=");
    return key.trim() && !OWN.includes(key.trim()) ? [[key.trim(), value.join("=").trim()]] : [];
  });
  return Object.fromEntries(pairs);
}

/** The first line that is not `name = value`; null if all are valid. */
export function wrongLine(text: string): string | null {
  const lines = text.split("\n").filter((line) => line.trim());
  return lines.find((line) => !/^\s*[^=\s][^=]*=/.test(line)) ?? null;
}
