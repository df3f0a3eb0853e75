import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { changeBot, deleteBot, exportBot, refreshBot, restoreBot } from "@/api/bots";
import type { Bot, BotStatus } from "@/api/types";
import { toast } from "@/ui/toast";
import { download } from "../bundle";

const DONE: Record<BotStatus, string> = { active: "Enabled", disabled: "Disabled", archived: "Archived" };

/** What can be done with a bot as a whole, from its menu and from its settings. */
export function useBotActions({ id, slug, status: before, identity: { display_name: name } }: Bot) {
  const cache = useQueryClient();
  const navigate = useNavigate();
  const refresh = () => refreshBot(cache, { slug, part: "bot" });
  const restore = () =>
    restoreBot({ id }).then(() => {
      toast.ok(`Restored ${name}.`);
      refresh();
    }, toast.error.bind(toast));

  const change = useMutation({
    mutationFn: (status: BotStatus) => changeBot({ slug, status }),
    onSuccess: ({ status }) => {
      const undo = () => change.mutate(before);
      toast.ok(`${DONE[status]} ${name}.`, { label: "Undo", run: undo });
      refresh();
    },
  });
  const remove = useMutation({
    mutationFn: () => deleteBot(slug),
    onSuccess: async () => {
      await navigate({ to: "/bots", ignoreBlocker: true });
      cache.removeQueries({ queryKey: ["bot", slug] });
      refreshBot(cache, { slug, part: "deleted" });
      toast.ok(`Deleted ${name}.`, { label: "Undo", run: () => void restore() });
    },
  });
  const save = useMutation({ mutationFn: () => exportBot(slug), onSuccess: download });
  return { setStatus: change.mutate, remove, exportFile: () => save.mutate() };
}
