import { useMutation, useQueryClient } from "@tanstack/react-query";
import { refreshBot } from "@/api/bots";
import { addMemory, changeMemory, forgetAllMemories, forgetMemory } from "@/api/memories";
import type { Memory } from "@/api/types";
import { count } from "@/ui/count";
import { toast } from "@/ui/toast";

/** The mutations of a bot's memory. */
export function useMemories(slug: string) {
  const cache = useQueryClient();
  const refresh = () => refreshBot(cache, { slug, part: "memory" });
  const add = useMutation({ mutationFn: addMemory, meta: { isShownInPlace: true }, onSuccess: refresh });
  const change = useMutation({
    mutationFn: changeMemory,
    meta: { isShownInPlace: true },
    onSuccess: refresh,
  });
  const pin = useMutation({ mutationFn: changeMemory, onSuccess: refresh });
  /** Deletion is permanent, so undo adds the memory again. */
  const again = ({ fact, category, importance, is_pinned }: Memory) =>
    addMemory({ slug, fact, category, importance, is_pinned }).then(refresh, toast.error);
  const forget = useMutation({
    mutationFn: forgetMemory,
    onSuccess: (memory) => {
      refresh();
      toast.ok("Forgotten.", { label: "Undo", run: () => void again(memory) });
    },
  });
  const forgetAll = useMutation({
    mutationFn: () => forgetAllMemories(slug),
    onSuccess: (memories) => {
      refresh();
      toast.ok(`Forgot ${count(memories, "memory", "memories")}.`);
    },
  });
  return { add, change, pin, forget, forgetAll };
}
