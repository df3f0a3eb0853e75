import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { botQuery, changeBot, refreshBot } from "@/api/bots";
import type { BotChange, FileConflict } from "@/api/types";
import { conflictOf, fileStateQuery } from "@/api/versions";
import { toast } from "@/ui/toast";

/**
 * Saves changes on top of the IDENTITY.md that was current when editing began. If the file changed since, the person
 * resolves the conflict.
 */
export function useSavingIdentity(slug: string, isDirty: boolean, onSaved: () => void) {
  const cache = useQueryClient();
  const now = useQuery(fileStateQuery(slug, "identity")).data?.hash ?? null;
  const base = useRef(now);
  if (!isDirty) base.current = now;
  const [conflict, setConflict] = useState<FileConflict | null>(null);
  const save = useMutation({
    mutationFn: changeBot,
    meta: { isShownInPlace: true },
    onSuccess: (bot) => {
      cache.setQueryData(botQuery(slug).queryKey, bot);
      refreshBot(cache, { slug, part: "identity" });
      setConflict(null);
      onSaved();
      toast.ok(`Saved ${bot.identity.display_name}.`);
    },
    onError: (error) => {
      setConflict(conflictOf(error));
      refreshBot(cache, { slug, part: "identity" });
    },
  });
  const saveOver = (change: BotChange, hash: string | null) =>
    save.mutate({ slug, ...change, ...(hash && { base_hash: hash }) });
  return {
    conflict,
    error: conflictOf(save.error) ? null : save.error,
    isPending: save.isPending,
    save: (change: BotChange) => saveOver(change, base.current),
    saveOver,
    dismiss: () => setConflict(null),
  };
}
