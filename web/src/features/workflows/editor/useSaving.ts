import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "@/api/client";
import type { WorkflowDetail } from "@/api/types";
import { refreshWorkflow, saveWorkflow, workflowQuery } from "@/api/workflows";
import { toast } from "@/ui/toast";
import { asDefinition } from "../definition/model";
import { type Draft, isSame, wishOf } from "./draft";
import type { Writing } from "./useWriting";

export const draftOf = ({ definition, source }: WorkflowDetail): Draft => ({
  definition: asDefinition(definition),
  source,
  ahead: null,
});

const CHANGED = 409;

/** Saves a new version, or reports a conflict if another version was saved. */
export function useSaving(first: WorkflowDetail, { draft, adopt, begin }: Writing) {
  const cache = useQueryClient();
  const [base, setBase] = useState({ workflow: first, draft: draftOf(first) });
  const [theirs, setTheirs] = useState<WorkflowDetail | null>(null);
  const { id } = first;
  const learn = (saved: WorkflowDetail) => {
    for (const ref of [id, first.name, saved.name]) cache.setQueryData(workflowQuery(ref).queryKey, saved);
    refreshWorkflow(cache, { workflow_id: id, name: saved.name });
  };
  const save = useMutation({
    mutationFn: ({ written, number }: { written: Draft; number: number }) =>
      saveWorkflow({ ref: id, ...wishOf(written), expected_number: number }),
    meta: { isShownInPlace: true },
    onSuccess: (saved, { written }) => {
      const next = draftOf(saved);
      setBase({ workflow: saved, draft: next });
      setTheirs(null);
      // Edits made during the save remain unsaved.
      if (isSame(draft, written)) adopt(next);
      learn(saved);
      toast.ok(`Saved ${saved.name} as version ${saved.number}.`);
    },
    onError: async (error, { number }) => {
      if (!(error instanceof ApiError) || error.status !== CHANGED) return;
      const now = await cache.fetchQuery({ ...workflowQuery(id), staleTime: 0 });
      if (now.number !== number) setTheirs(now);
    },
  });
  const beginWith = (workflow: WorkflowDetail) => {
    const next = draftOf(workflow);
    begin(next);
    setBase({ workflow, draft: next });
  };
  return {
    workflow: base.workflow,
    begin: beginWith,
    isDirty: !isSame(draft, base.draft),
    isPending: save.isPending,
    error: theirs ? null : save.error,
    save: () => save.mutate({ written: draft, number: base.workflow.number }),
    /** Another version was saved: the person has to choose. */
    conflict: theirs && {
      theirs,
      ways: {
        takeTheirs: () => {
          beginWith(theirs);
          setTheirs(null);
          save.reset();
        },
        saveMine: () => save.mutate({ written: draft, number: theirs.number }),
        keepEditing: () => {
          setTheirs(null);
          save.reset();
        },
      },
    },
  };
}
