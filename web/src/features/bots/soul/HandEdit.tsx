import { useState } from "react";
import type { FileState } from "@/api/types";
import { Button } from "@/ui/Button";
import { Confirm } from "@/ui/Confirm";
import { Diff } from "@/ui/Diff";
import { nameOf } from "./place";
import { useTakingBack } from "./useTakingBack";

type Props = { slug: string; state: FileState; isEdited: boolean };

/** Shown if the file on disk differs from the accepted version. A person accepts the edit or rolls back. */
export function HandEdit({ slug, state, isEdited }: Props) {
  const { file, content, hash, version, problems, diff } = state;
  const [isAsking, setAsking] = useState(false);
  const { accept, rollback } = useTakingBack(slug, file);
  const name = nameOf(file);
  const isWrong = problems.some((problem) => !problem.is_warning);
  const isBusy = accept.isPending || rollback.isPending;
  return (
    <section aria-label="Edited by hand" className="wash-wait space-y-2 rounded-md border p-3">
      <div className="flex flex-wrap items-center gap-2">
        <p className="min-w-0 flex-1 basis-60">{explain(name, content === null, isWrong)}</p>
        {hash !== null && !isEdited && (
          <Button look="primary" disabled={isBusy || isWrong} onClick={() => accept.mutate(hash)}>
            Accept
          </Button>
        )}
        <Button disabled={isBusy} onClick={() => setAsking(true)}>
          {content === null ? `Restore version ${version}` : `Roll back to version ${version}`}
        </Button>
      </div>
      {diff && <Diff diff={diff} className="max-h-[30vh]" />}
      <Confirm
        open={isAsking}
        onOpenChange={setAsking}
        title={`Roll back ${name} to version ${version}?`}
        description="The current content is kept in the history."
        action={`Roll back to version ${version}`}
        isBusy={rollback.isPending}
        onConfirm={() => rollback.mutate(version, { onSettled: () => setAsking(false) })}
      />
    </section>
  );
}

function explain(name: string, isGone: boolean, isWrong: boolean): string {
  if (isGone) return `${name} is missing. The bot cannot answer without it.`;
  if (isWrong) return `${name} was edited by hand and is invalid. Fix it below or roll back.`;
  return `${name} was edited by hand. The bot does not answer until you accept the edit or roll back.`;
}
