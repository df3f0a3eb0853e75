/** The files of a skill as a tree. */
import type { SkillFile } from "@/api/types";

export type Branch = { name: string; path: string; branches: Branch[]; files: SkillFile[] };

/** `SKILL.md` first, then folders before files. */
export function treeOf(files: readonly SkillFile[]): Branch {
  const root: Branch = { name: "", path: "", branches: [], files: [] };
  for (const file of files.toSorted(byPath)) {
    const folders = file.path.split("/").slice(0, -1);
    folders.reduce(inside, root).files.push(file);
  }
  return root;
}

const byPath = (a: SkillFile, b: SkillFile): number =>
  Number(b.path === "SKILL.md") - Number(a.path === "SKILL.md") || a.path.localeCompare(b.path);

function inside(branch: Branch, name: string): Branch {
  const known = branch.branches.find((other) => other.name === name);
  if (known) return known;
  const path = branch.path ? `${branch.path}/${name}` : name;
  const added: Branch = { name, path, branches: [], files: [] };
  branch.branches.push(added);
  return added;
}

export const nameOf = (path: string): string => path.split("/").at(-1) ?? path;

/** The language for the highlighter: the extension, or the whole name, as for Makefile. */
export function languageOfFile(path: string): string {
  const name = nameOf(path);
  return name.includes(".") ? (name.split(".").at(-1) ?? "") : name;
}
