import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { ApiError } from "@/api/client";
import { refreshSkill, removeSkill } from "@/api/skills";
import type { SkillDetail } from "@/api/types";
import { Confirm } from "@/ui/Confirm";
import { count } from "@/ui/count";
import { InlineText } from "@/ui/InlineText";
import { toast } from "@/ui/toast";

/** Permanent. If bots or skills depend on it, a second confirmation is required. */
export function RemoveSkill({ skill, close }: { skill: SkillDetail; close: () => void }) {
  const { name } = skill;
  const cache = useQueryClient();
  const navigate = useNavigate();
  const remove = useMutation({
    mutationFn: removeSkill,
    meta: { isShownInPlace: true },
    onSuccess: async () => {
      await navigate({ to: "/skills" });
      cache.removeQueries({ queryKey: ["skill", name] });
      refreshSkill(cache, { skill: name, part: "removed" });
      toast.ok(`Removed ${name}.`);
    },
  });
  const conflict = remove.error instanceof ApiError && remove.error.status === 409 ? remove.error : null;
  const other = remove.error && !conflict ? remove.error : null;
  const said = (conflict ?? other)?.message;
  return (
    <Confirm
      open
      onOpenChange={close}
      title={`Remove ${name}?`}
      description={
        <>
          Permanently deletes the skill, its grants and its stored values. The run log is kept.
          <Users skill={skill} />
          {said && (
            <span role="alert" className="mt-2 block text-bad">
              <InlineText text={said} />
            </span>
          )}
          {conflict && <span className="mt-2 block">Remove it anyway? They will lose access to it.</span>}
        </>
      }
      action={conflict ? "Remove anyway" : "Remove skill"}
      word={name}
      isBusy={remove.isPending}
      onConfirm={() => remove.mutate({ name, force: conflict !== null })}
    />
  );
}

function Users({ skill: { bots } }: { skill: SkillDetail }) {
  if (bots.length === 0) return null;
  return (
    <span className="mt-2 block">
      Used by {count(bots.length, "bot")}: <span className="mono text-ink">{bots.join(", ")}</span>.
    </span>
  );
}
