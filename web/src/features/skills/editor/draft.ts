/** The edited files of a skill and the version they are based on. */

/** Texts by path. */
export type Texts = Readonly<Record<string, string>>;
/** The folder as it was read; `hash` is null if the skill is not saved yet. */
export type Base = { texts: Texts; hash: string | null };
export type Draft = { texts: Texts; base: Base };

/** The file that every skill has. */
export const MAIN = "SKILL.md";

export const begun = (base: Base): Draft => ({ texts: base.texts, base });

export function written({ texts, base }: Draft, path: string, text: string): Draft {
  return { base, texts: { ...texts, [path]: text } };
}

export function removed({ texts, base }: Draft, path: string): Draft {
  const { [path]: _, ...others } = texts;
  return { base, texts: others };
}

export function renamed(draft: Draft, from: string, to: string): Draft {
  return written(removed(draft, from), to, draft.texts[from] ?? "");
}

/** The draft after `saved` was written; later edits remain unsaved. */
export const afterSave = ({ texts }: Draft, saved: Texts, hash: string): Draft => ({
  texts,
  base: { texts: saved, hash },
});

/** The paths that differ or exist in only one of the two. */
export function differing(a: Texts, b: Texts): string[] {
  const paths = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...paths].filter((path) => a[path] !== b[path]).sort(byPlace);
}

export const isDirty = ({ texts, base }: Draft): boolean =>
  base.hash === null || differing(texts, base.texts).length > 0;

/** `SKILL.md` first, then by depth and name. */
export function byPlace(a: string, b: string): number {
  return Number(b === MAIN) - Number(a === MAIN) || depth(a) - depth(b) || a.localeCompare(b);
}

const depth = (path: string): number => path.split("/").length;

const NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** Why the name is invalid; null if it is valid. */
export function wrongName(name: string): string | null {
  if (name.length > 64) return "Names can have at most 64 characters.";
  return NAME.test(name) ? null : "Lowercase letters and digits, separated by single hyphens.";
}

const LONGEST = 300;

/** Why the path is invalid; null if it is valid. */
export function wrongPath(path: string, taken: readonly string[]): string | null {
  const parts = path.split("/");
  if (path.length > LONGEST) return `Paths can have at most ${LONGEST} characters.`;
  if (taken.some((other) => other.toLowerCase() === path.toLowerCase()))
    return "A file with this name already exists.";
  if (taken.some((other) => other.startsWith(`${path}/`))) return "A folder with this name already exists.";
  if (taken.some((other) => path.startsWith(`${other}/`))) return "One of these folders is a file.";
  if (
    /[\\:*?"<>|]/.test(path) ||
    parts.some((part) => part !== part.trim() || part === "" || /^\.+$/.test(part))
  ) {
    return "Use names separated by slashes, like notes.md or references/style.md.";
  }
  return null;
}

/** Editor languages by file extension. */
const ENDINGS = {
  md: "markdown",
  js: "javascript",
  mjs: "javascript",
  cjs: "javascript",
  ts: "javascript",
  py: "python",
  json: "json",
  yaml: "yaml",
  yml: "yaml",
  toml: "toml",
  sh: "shell",
} as const;

export function languageOf(path: string): (typeof ENDINGS)[keyof typeof ENDINGS] | "text" {
  const ending = path.split(".").at(-1)?.toLowerCase() ?? "";
  return ending in ENDINGS ? ENDINGS[ending as keyof typeof ENDINGS] : "text";
}
