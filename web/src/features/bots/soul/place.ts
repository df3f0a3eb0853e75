/** The search params of the soul page. */
import type { BotFile } from "@/api/types";

/** `with` is the version to compare with; 0 stands for the current file. */
export type Place = {
  file?: Exclude<BotFile, "soul"> | undefined;
  version?: number | undefined;
  with?: number | undefined;
  line?: number | undefined;
};

export const FILES: readonly { value: BotFile; label: string }[] = [
  { value: "soul", label: "SOUL.md" },
  { value: "identity", label: "IDENTITY.md" },
  { value: "user", label: "USER.md" },
  { value: "skills-file", label: "skills.toml" },
];

export const nameOf = (file: BotFile): string => FILES.find(({ value }) => value === file)?.label ?? file;

export const languageOf = (file: BotFile) => (file === "skills-file" ? "toml" : "markdown");

/** The part of a bot that a file belongs to, as named in `bot.changed`. */
export const partOf = (file: BotFile) => (file === "skills-file" ? "skills" : file);

const OTHERS = ["identity", "user", "skills-file"] as const;
export const THE_FILE = 0;

const whole = (value: unknown, least: number): number | undefined =>
  typeof value === "number" && Number.isInteger(value) && value >= least ? value : undefined;

/** Invalid params are ignored, since addresses can be typed by hand. */
export function readPlace(search: Record<string, unknown>): Place {
  const version = whole(search.version, 1);
  return {
    file: OTHERS.find((file) => file === search.file),
    version,
    with: version === undefined ? undefined : whole(search.with, THE_FILE),
    line: whole(search.line, 1),
  };
}

/** The search params of a file. */
export const placeOf = (file: BotFile): Place => (file === "soul" ? {} : { file });
