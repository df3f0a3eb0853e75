import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Trash2 } from "lucide-react";
import { useRef, useState } from "react";
import { deleteInterview, draftsQuery } from "@/api/builder";
import type { InterviewDraft } from "@/api/types";
import { buttonClass, IconButton } from "@/ui/Button";
import { Confirm } from "@/ui/Confirm";
import { ErrorState } from "@/ui/ErrorState";
import { Panel } from "@/ui/Panel";
import { SkeletonRows } from "@/ui/Skeleton";
import { Ago } from "@/ui/Time";
import { toast } from "@/ui/toast";
import { useRowKeys } from "@/ui/useRowKeys";
import { MODE_WORD, nameOf, PHASES, phaseName } from "../words";

/** Interviews that are not finished. */
export function Drafts() {
  const drafts = useQuery(draftsQuery);
  const [removing, setRemoving] = useState<InterviewDraft | null>(null);
  const list = useRef<HTMLUListElement>(null);
  useRowKeys(list);
  return (
    <Panel title="Drafts" {...(drafts.data && { count: drafts.data.length })}>
      {drafts.isPending && <SkeletonRows rows={2} label="Loading drafts" />}
      {drafts.isLoadingError && <ErrorState error={drafts.error} retry={drafts.refetch} />}
      {drafts.data?.length === 0 && (
        <p className="px-3 py-2 text-dim">
          No drafts. Every answer is saved, so you can leave an interview at any time.
        </p>
      )}
      {drafts.data && drafts.data.length > 0 && (
        <ul ref={list} aria-label="Drafts" className="divide-y divide-line">
          {drafts.data.map((draft) => (
            <DraftRow key={draft.session_id} draft={draft} remove={() => setRemoving(draft)} />
          ))}
        </ul>
      )}
      {removing && <Remove draft={removing} close={() => setRemoving(null)} />}
    </Panel>
  );
}

function DraftRow({ draft, remove }: { draft: InterviewDraft; remove: () => void }) {
  const name = nameOf(draft);
  return (
    <li className="flex items-center gap-3 px-3 py-2">
      <div className="min-w-0 flex-1">
        <p className="flex min-w-0 items-baseline gap-2">
          <span className="truncate font-medium">{name}</span>
          <span className="shrink-0 text-xs text-dim">{MODE_WORD[draft.mode]}</span>
        </p>
        {draft.problem ? (
          <p className="text-xs break-words text-wait">{draft.problem}</p>
        ) : (
          <p className="flex items-center gap-2 text-xs text-dim">
            <StepDots draft={draft} />
            <Ago at={draft.updated_at} className="mono" />
          </p>
        )}
      </div>
      {!draft.problem && (
        <Link
          to="/forge/$sessionId"
          params={{ sessionId: draft.session_id }}
          data-row
          aria-label={`Resume ${name}`}
          className={buttonClass()}
        >
          Resume
        </Link>
      )}
      <IconButton label={`Delete ${name}`} onClick={remove}>
        <Trash2 size={14} aria-hidden />
      </IconButton>
    </li>
  );
}

/** The progress as five dots and the phase's name. */
function StepDots({ draft: { mode, phase } }: { draft: InterviewDraft }) {
  const at = PHASES.indexOf(phase);
  return (
    <span className="flex items-center gap-2">
      <span aria-hidden className="flex gap-1">
        {PHASES.map((one, index) => (
          <span key={one} className={`size-1.5 rounded-full ${index <= at ? "bg-accent" : "bg-strong"}`} />
        ))}
      </span>
      <span>
        {phaseName(mode, phase)}
        <span className="sr-only">
          , step {at + 1} of {PHASES.length}
        </span>
      </span>
    </span>
  );
}

function Remove({ draft, close }: { draft: InterviewDraft; close: () => void }) {
  const cache = useQueryClient();
  const remove = useMutation({
    mutationFn: () => deleteInterview(draft.session_id),
    onSuccess: async () => {
      close();
      toast.ok("Draft deleted.");
      await cache.invalidateQueries({ queryKey: draftsQuery.queryKey });
    },
  });
  return (
    <Confirm
      open
      onOpenChange={close}
      title="Delete this draft?"
      description={`“${nameOf(draft)}” and its answers will be deleted.`}
      action="Delete draft"
      isBusy={remove.isPending}
      onConfirm={() => remove.mutate()}
    />
  );
}
