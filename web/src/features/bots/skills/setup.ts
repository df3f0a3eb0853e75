/** How a skill is set up for one bot, as a form has it and as the server takes it. */
import type { BotSkill, BotSkillChange } from "@/api/types";

export type Setup = {
  version: string;
  description: string;
  /** A line for each: `name = value`. */
  settings: string;
  /** Null: all that is granted. */
  allowed: readonly string[] | null;
};

/** Not settings of the skill: what the bot reads of it, and a note of Forge's. */
const OWN = ["description", "origin"];
/** Nobody has to grant it, so a list of it alone allows nothing. */
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

/** The first line that is no setting; null when all are. */
export function wrongLine(text: string): string | null {
  const lines = text.split("\n").filter((line) => line.trim());
  return lines.find((line) => !/^\s*[^=\s][^=]*=/.test(line)) ?? null;
}
