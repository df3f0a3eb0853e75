import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "@/api/client";
import { refreshSkill, saveSkill, skillFileQuery, skillQuery } from "@/api/skills";
import type { SkillDetail } from "@/api/types";
import { toast } from "@/ui/toast";
import { afterSave, type Draft, type Texts } from "./draft";

type Options = {
  skill: SkillDetail;
  draft: Draft;
  setDraft: (change: (before: Draft) => Draft) => void;
};

const CHANGED = 409;

/** Saves the texts of a skill, or reports a conflict if the folder changed. */
export function useSaving({ skill: { name, granted }, draft, setDraft }: Options) {
  const cache = useQueryClient();
  const [left, setLeft] = useState<string | null>(null);
  const learn = (saved: SkillDetail, texts: Texts) => {
    for (const { path, bytes } of saved.files) {
      const text = texts[path];
      if (text === undefined) continue;
      cache.setQueryData(skillFileQuery(name, path, saved.folder_hash).queryKey, { path, text, bytes });
    }
    cache.setQueryData(skillQuery(name).queryKey, saved);
  };
  const save = useMutation({
    mutationFn: saveSkill,
    meta: { isShownInPlace: true },
    onSuccess: (saved, { files }) => {
      learn(saved, files);
      setDraft((before) => afterSave(before, files, saved.folder_hash));
      setLeft(leftAfter(saved, granted.length > 0));
      toast.ok(`Saved ${name}.`);
    },
    onError: (error) => {
      if (isChanged(error)) refreshSkill(cache, { skill: name, part: "skill" });
    },
  });
  const saveOver = (hash: string) => {
    if (!save.isPending) save.mutate({ name, files: { ...draft.texts }, base_hash: hash });
  };
  const isRefused = isChanged(save.error);
  return {
    isPending: save.isPending,
    error: isRefused ? null : save.error,
    /** The folder changed: the person has to choose. */
    isRefused,
    left,
    save: () => saveOver(draft.base.hash ?? ""),
    saveOver,
    settle: () => save.reset(),
  };
}

const isChanged = (error: unknown): boolean => error instanceof ApiError && error.status === CHANGED;

function leftAfter({ state, asks }: SkillDetail, wasGranted: boolean): string | null {
  if (asks.length === 0 || state !== "review") return null;
  return wasGranted
    ? "The skill changed, so its grants no longer apply. Review and grant it again."
    : "The skill requests capabilities that are not granted yet.";
}
