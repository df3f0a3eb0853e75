import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { refreshBot } from "@/api/bots";
import type { BotFile, FileConflict, FileState } from "@/api/types";
import { conflictOf, fileStateQuery, saveFile } from "@/api/versions";
import { toast } from "@/ui/toast";
import { afterSave, baseOf, type Draft } from "./draft";
import { nameOf, partOf } from "./place";

type Options = {
  slug: string;
  file: BotFile;
  draft: Draft | undefined;
  setDraft: (change: (before: Draft | undefined) => Draft | undefined) => void;
};

export type Saving = ReturnType<typeof useSaving>;

/** Saves a draft as a new version, or reports a conflict if the file changed. */
export function useSaving({ slug, file, draft, setDraft }: Options) {
  const cache = useQueryClient();
  const [message, setMessage] = useState("");
  const [conflict, setConflict] = useState<FileConflict | null>(null);
  const learn = (state: FileState) => {
    cache.setQueryData(fileStateQuery(slug, file).queryKey, state);
    refreshBot(cache, { slug, part: partOf(file) });
  };
  const save = useMutation({
    mutationFn: saveFile,
    meta: { isShownInPlace: true },
    onSuccess: (state, { content }) => {
      learn(state);
      setDraft((before) => afterSave(before, content, state));
      setConflict(null);
      setMessage("");
      toast.ok(`Saved ${nameOf(file)} as version ${state.version}.`);
    },
    onError: (error) => {
      const found = conflictOf(error);
      setConflict(found);
      if (found) learn(found.current);
    },
  });
  const saveOver = (hash: string | null | undefined) => {
    if (draft && hash && !save.isPending) {
      save.mutate({ slug, file, content: draft.text, base_hash: hash, message: message.trim() });
    }
  };
  const takeTheirs = (theirs: FileState) => {
    const mine = draft;
    setConflict(null);
    save.reset();
    setDraft(() => undefined);
    if (!mine) return;
    const back = () => setDraft(() => ({ text: mine.text, base: baseOf(theirs) }));
    toast.ok("Switched to their version; your text was discarded.", { label: "Restore mine", run: back });
  };
  return {
    message,
    setMessage,
    conflict,
    error: conflictOf(save.error) ? null : save.error,
    isPending: save.isPending,
    save: () => saveOver(draft?.base.hash),
    saveOver,
    takeTheirs,
    keepEditing: () => setConflict(null),
  };
}
