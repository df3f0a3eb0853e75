import type { WorkflowDetail } from "@/api/types";
import { Modal } from "@/ui/Modal";
import { Ago } from "@/ui/Time";
import { type Ways, WaysOn } from "@/ui/WaysOn";

type Props = { theirs: WorkflowDetail; isBusy: boolean; ways: Ways };

/** Shown if another version was saved during editing. Closing it keeps editing. */
export function Conflict({ theirs, isBusy, ways }: Props) {
  return (
    <Modal
      open
      onOpenChange={ways.keepEditing}
      title={`${theirs.name} was saved by someone else`}
      description="Your changes are unsaved but not lost."
    >
      <p className="mt-3">
        Version {theirs.number} is from <Ago at={theirs.updated_at} />. If you save over it, their version is
        kept in the history.
      </p>
      <div className="mt-4">
        <WaysOn ways={ways} isBusy={isBusy} />
      </div>
    </Modal>
  );
}
