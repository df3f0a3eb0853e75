import { useMutation, useQueryClient } from "@tanstack/react-query";
import { refreshBot } from "@/api/bots";
import type { BotFile, FileState } from "@/api/types";
import { acceptEdit, fileStateQuery, rollBack } from "@/api/versions";
import { toast } from "@/ui/toast";
import { nameOf, partOf } from "./place";

/** Accept an edit made outside Forge, or roll back to an older version. */
export function useTakingBack(slug: string, file: BotFile) {
  const cache = useQueryClient();
  const learn = (state: FileState) => {
    cache.setQueryData(fileStateQuery(slug, file).queryKey, state);
    refreshBot(cache, { slug, part: partOf(file) });
  };
  const accept = useMutation({
    mutationFn: (hash: string) => acceptEdit({ slug, file, hash }),
    onSuccess: (state) => {
      learn(state);
      toast.ok(`Accepted ${nameOf(file)} as version ${state.version}.`);
    },
    // The file changed again: show the new text instead.
    onError: () => cache.invalidateQueries({ queryKey: fileStateQuery(slug, file).queryKey }),
  });
  const rollback = useMutation({
    mutationFn: (version: number) => rollBack({ slug, file, version }),
    onSuccess: (state, version) => {
      learn(state);
      toast.ok(`Rolled back ${nameOf(file)} to version ${version}, saved as version ${state.version}.`);
    },
  });
  return { accept, rollback };
}
