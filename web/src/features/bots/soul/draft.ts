/**
 * An edited text and the version it is based on. A draft exists only while the two differ, so an unedited page follows
 * changes of the file.
 */
import type { BotFile, FileState } from "@/api/types";

export type Base = { text: string; hash: string | null; version: number };
export type Draft = { text: string; base: Base };
export type Drafts = Partial<Record<BotFile, Draft>>;

export const baseOf = ({ content, hash, version }: FileState): Base => ({
  text: content ?? "",
  hash,
  version,
});

/** The draft after an edit; undefined if the text equals its base. */
export function edited(draft: Draft | undefined, text: string, state: FileState): Draft | undefined {
  const base = draft?.base ?? baseOf(state);
  return text === base.text ? undefined : { text, base };
}

/** The draft after `saved` was written; text typed since is based on the new version. */
export function afterSave(draft: Draft | undefined, saved: string, state: FileState): Draft | undefined {
  return draft && draft.text !== saved ? edited(undefined, draft.text, state) : undefined;
}

/** The file is no longer the one the draft is based on. */
export const isOutdated = (draft: Draft | undefined, state: FileState): boolean =>
  draft !== undefined && draft.base.hash !== state.hash;

/** Drafts of several files, with the one of `file` replaced. */
export function withDraft(drafts: Drafts, file: BotFile, draft: Draft | undefined): Drafts {
  const { [file]: _, ...others } = drafts;
  return draft ? { ...others, [file]: draft } : others;
}
