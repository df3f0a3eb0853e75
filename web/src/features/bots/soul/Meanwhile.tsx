import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { FileState } from "@/api/types";
import { diffQuery } from "@/api/versions";
import { Button } from "@/ui/Button";
import { Diff } from "@/ui/Diff";
import { ErrorState } from "@/ui/ErrorState";
import { SkeletonRows } from "@/ui/Skeleton";
import { Choose } from "./Conflict";
import type { Draft } from "./draft";
import { nameOf } from "./place";
import type { Saving } from "./useSaving";

type Props = { slug: string; state: FileState; draft: Draft; saving: Saving };

/** Shown if the file changed during editing. The typed text stays. */
export function Meanwhile({ slug, state, draft, saving }: Props) {
  const [isComparing, setComparing] = useState(false);
  const name = nameOf(state.file);
  const ways = {
    takeTheirs: () => saving.takeTheirs(state),
    saveMine: () => saving.saveOver(state.hash),
    keepEditing: () => setComparing(false),
  };
  return (
    <div role="status" className="wash-wait flex flex-wrap items-center gap-2 rounded-md border px-3 py-1.5">
      <p className="min-w-0 flex-1 basis-52">
        {name} was changed while you were editing. Your text is still here but not saved.
      </p>
      <Button onClick={() => setComparing(true)}>Compare</Button>
      {isComparing && !saving.conflict && (
        <Choose name={name} current={state} isBusy={saving.isPending} ways={ways}>
          <Theirs slug={slug} state={state} from={draft.base.version} />
        </Choose>
      )}
    </div>
  );
}

function Theirs({ slug, state, from }: { slug: string; state: FileState; from: number }) {
  const diff = useQuery(diffQuery(slug, state.file, from, null));
  if (diff.isPending) return <SkeletonRows rows={4} label="Loading differences" />;
  if (diff.isLoadingError) return <ErrorState error={diff.error} retry={diff.refetch} />;
  return <Diff diff={diff.data} className="max-h-[48vh]" />;
}
