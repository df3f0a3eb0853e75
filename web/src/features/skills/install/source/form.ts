/** The typed source, kept when the tab changes or an error occurs. */
import type { SkillSource } from "@/api/types";

export type Way = "files" | "git" | "registry" | "path";

export type SourceForm = { way: Way; url: string; ref: string; inside: string; words: string; path: string };

export const BLANK: SourceForm = { way: "files", url: "", ref: "", inside: "", words: "", path: "" };

export const WAYS: readonly { value: Way; label: string }[] = [
  { value: "files", label: "Zip or folder" },
  { value: "git", label: "Git" },
  { value: "registry", label: "Registry" },
  { value: "path", label: "On the server" },
];

export function gitSource({ url, ref, inside }: SourceForm): SkillSource {
  return { type: "git", url: url.trim(), ref: ref.trim() || null, path: inside.trim() };
}
