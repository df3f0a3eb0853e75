import { useMutation, useQueryClient } from "@tanstack/react-query";
import { attachSkill, changeBotSkill, detachSkill, refreshBot } from "@/api/bots";
import type { BotSkill } from "@/api/types";
import { toast } from "@/ui/toast";

/** The mutations of a bot's skills. */
export function useSkills(slug: string) {
  const cache = useQueryClient();
  const refresh = () => refreshBot(cache, { slug, part: "skills" });
  const attach = useMutation({ mutationFn: attachSkill, meta: { isShownInPlace: true }, onSuccess: refresh });
  const change = useMutation({ mutationFn: changeBotSkill, onSuccess: refresh });
  const setUp = useMutation({
    mutationFn: changeBotSkill,
    meta: { isShownInPlace: true },
    onSuccess: refresh,
  });
  const again = ({ name, enabled, pin, overrides, narrowed }: BotSkill) =>
    attachSkill({
      slug,
      skill_name: name,
      enabled,
      version: pin ?? null,
      overrides,
      capabilities: narrowed ?? null,
    }).then(refresh, toast.error);
  const detach = useMutation({
    mutationFn: detachSkill,
    onSuccess: (skill) => {
      refresh();
      toast.ok(`Detached ${skill.name}.`, { label: "Undo", run: () => void again(skill) });
    },
  });
  return { attach, change, setUp, detach };
}
