import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { changeBot, deleteBot, exportBot, refreshBot, restoreBot } from "@/api/bots";
import type { Bot, BotStatus } from "@/api/types";
import { toast } from "@/ui/toast";
import { download } from "../bundle";

const DONE: Record<BotStatus, string> = { active: "Enabled", disabled: "Disabled", archived: "Archived" };

/** Status changes, deletion and export, used by the menu and the settings. */
export function useBotActions({ id, slug, status, identity: { display_name: name } }: Bot) {
  const cache = useQueryClient();
  const navigate = useNavigate();
  const refresh = () => refreshBot(cache, { slug, part: "bot" });
  const restore = () =>
    restoreBot({ id }).then(() => {
      toast.ok(`Restored ${name}.`);
      refresh();
    }, toast.error);

  const change = useMutation({
    mutationFn: ({ to }: { to: BotStatus; from: BotStatus }) => changeBot({ slug, status: to }),
    onSuccess: (_bot, { to, from }) => {
      const undo = () => change.mutate({ to: from, from: to });
      toast.ok(`${DONE[to]} ${name}.`, { label: "Undo", run: undo });
      refresh();
    },
  });
  const setStatus = (to: BotStatus) => change.mutate({ to, from: status });
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
  return { setStatus, remove, exportFile: () => save.mutate() };
}
