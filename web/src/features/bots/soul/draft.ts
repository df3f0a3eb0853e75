/**
 * A text that somebody is writing, and what it was begun from. There is a draft only while it differs from
 * that: whoever has typed nothing sees the file as it is, also when it changes.
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

/** After the text became another; undefined when it is what it was begun from. */
export function edited(draft: Draft | undefined, text: string, state: FileState): Draft | undefined {
  const base = draft?.base ?? baseOf(state);
  return text === base.text ? undefined : { text, base };
}

/** After `saved` became the file: what was typed meanwhile goes on from there. */
export function afterSave(draft: Draft | undefined, saved: string, state: FileState): Draft | undefined {
  return draft && draft.text !== saved ? edited(undefined, draft.text, state) : undefined;
}

/** The file is not the one the draft was begun from. */
export const isOutdated = (draft: Draft | undefined, state: FileState): boolean =>
  draft !== undefined && draft.base.hash !== state.hash;

/** Drafts of several files, with the one of `file` replaced. */
export function withDraft(drafts: Drafts, file: BotFile, draft: Draft | undefined): Drafts {
  const { [file]: _, ...others } = drafts;
  return draft ? { ...others, [file]: draft } : others;
}
