import { Play } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import type { WorkflowDetail } from "@/api/types";
import { Button } from "@/ui/Button";
import { refOf } from "../words";
import { Conflict } from "./Conflict";
import { draftOf, useSaving } from "./useSaving";
import { useWriting } from "./useWriting";
import { WorkflowEditor } from "./WorkflowEditor";

const StartSaved = lazy(() =>
  import("../start/StartSaved").then(({ StartSaved }) => ({ default: StartSaved })),
);

/** The editor of a workflow that others may save too. Edits are only ever replaced by a decision of the person. */
export function OpenedWorkflow({ workflow }: { workflow: WorkflowDetail }) {
  const writing = useWriting(draftOf(workflow));
  const saving = useSaving(workflow, writing);
  const [isStarting, setStarting] = useState(false);
  const isOutdated = workflow.number > saving.workflow.number && !saving.isPending;
  // Without edits the page follows the saved version.
  if (isOutdated && !saving.isDirty) saving.begin(workflow);
  return (
    <>
      <WorkflowEditor
        name={saving.workflow.name}
        home={`/workflows/${refOf(saving.workflow)}`}
        writing={writing}
        saving={saving}
        reference={workflow.id}
        actions={
          <Button disabled={saving.isDirty} onClick={() => setStarting(true)}>
            <Play size={13} aria-hidden /> <span className="max-sm:sr-only">Run</span>
          </Button>
        }
        notice={isOutdated && saving.isDirty && <Meanwhile name={workflow.name} />}
      />
      {saving.conflict && <Conflict {...saving.conflict} isBusy={saving.isPending} />}
      {isStarting && (
        <Suspense fallback={null}>
          <StartSaved reference={workflow.id} close={() => setStarting(false)} />
        </Suspense>
      )}
    </>
  );
}

function Meanwhile({ name }: { name: string }) {
  return (
    <p role="status" className="wash-wait m-2 rounded-md border px-3 py-1.5">
      {name} was saved while you were editing. Your changes are still here; when you save, you choose which
      version to keep.
    </p>
  );
}
