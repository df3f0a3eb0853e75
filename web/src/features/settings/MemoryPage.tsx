import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { forgetAll, forgetOne, memoryQuery } from "@/api/builder";
import type { InterviewMemory } from "@/api/types";
import { Button, buttonClass } from "@/ui/Button";
import { Confirm } from "@/ui/Confirm";
import { EmptyState } from "@/ui/EmptyState";
import { ErrorState } from "@/ui/ErrorState";
import { Panel } from "@/ui/Panel";
import { SkeletonRows } from "@/ui/Skeleton";
import { Ago } from "@/ui/Time";
import { toast } from "@/ui/toast";

/** What finished interviews left as suggestions for later ones. */
export function MemoryPage() {
  const memory = useQuery(memoryQuery);
  const forget = useForgetting();
  const [isAsked, setAsked] = useState(false);
  const all = memory.data && memory.data.length > 0 && (
    <Button look="danger" onClick={() => setAsked(true)}>
      Forget all…
    </Button>
  );
  return (
    <Panel title="Forge’s memory" actions={all}>
      {memory.isPending && <SkeletonRows rows={3} label="Loading memory" />}
      {memory.isLoadingError && <ErrorState error={memory.error} retry={memory.refetch} />}
      {memory.data?.length === 0 && (
        <EmptyState
          title="Nothing is remembered"
          sentence="Your choices for a bot are suggested again when you create a similar one."
          action={
            <Link to="/forge" className={buttonClass("primary")}>
              Create with Forge
            </Link>
          }
        />
      )}
      {memory.data && memory.data.length > 0 && (
        <ul aria-label="Remembered" className="divide-y divide-line">
          {memory.data.map((entry) => (
            <Entry key={entry.id} entry={entry} forget={() => forget.mutate(entry.id)} />
          ))}
        </ul>
      )}
      <Confirm
        open={isAsked}
        onOpenChange={setAsked}
        title="Forget everything?"
        description="Bots are not changed; only future interviews no longer use these choices."
        action="Forget all"
        isBusy={forget.isPending}
        onConfirm={() => forget.mutate(null, { onSettled: () => setAsked(false) })}
      />
    </Panel>
  );
}

function useForgetting() {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (id: string | null) => (id === null ? forgetAll() : forgetOne(id)),
    onSuccess: () => toast.ok("Forgotten."),
    onSettled: () => cache.invalidateQueries({ queryKey: memoryQuery.queryKey }),
  });
}

function Entry({ entry, forget }: { entry: InterviewMemory; forget: () => void }) {
  const chosen = [entry.chosen_tone, entry.chosen_model, ...entry.chosen_skills].filter(Boolean).join(" · ");
  const about = entry.initial_description || entry.bot_slug || "An interview";
  return (
    <li className="flex items-start gap-3 px-3 py-2">
      <div className="min-w-0 flex-1">
        <p className="break-words">{about}</p>
        {chosen && <p className="break-words text-dim">{chosen}</p>}
        <p className="flex flex-wrap items-center gap-x-2 text-xs text-dim">
          <span>{entry.purpose_category.replaceAll("_", " ")}</span>
          {entry.bot_slug && (
            <Link
              to="/bots/$slug"
              params={{ slug: entry.bot_slug }}
              className="mono rounded-sm hover:text-ink"
            >
              {entry.bot_slug}
            </Link>
          )}
          <Ago at={entry.created_at} className="mono" />
        </p>
      </div>
      <Button look="ghost" aria-label={`Forget: ${about}`} onClick={forget}>
        Forget
      </Button>
    </li>
  );
}
