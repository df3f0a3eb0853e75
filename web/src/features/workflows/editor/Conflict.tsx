import type { WorkflowDetail } from "@/api/types";
import { Button } from "@/ui/Button";
import { Modal } from "@/ui/Modal";
import { Ago } from "@/ui/Time";

type Props = {
  theirs: WorkflowDetail;
  isBusy: boolean;
  takeTheirs: () => void;
  saveMine: () => void;
  keepEditing: () => void;
};

/** Somebody saved another version meanwhile. Whoever closes this goes on writing: nothing is decided. */
export function Conflict({ theirs, isBusy, takeTheirs, saveMine, keepEditing }: Props) {
  return (
    <Modal
      open
      isHeld
      onOpenChange={keepEditing}
      title={`${theirs.name} was saved meanwhile`}
      description="What you changed is not saved yet, and nothing of it is lost."
    >
      <p className="mt-3">
        Version {theirs.number} is from <Ago at={theirs.updated_at} />. If you save yours over it, theirs
        stays among the versions.
      </p>
      <div className="mt-4 flex flex-wrap justify-end gap-2">
        <Button look="ghost" onClick={keepEditing}>
          Keep editing
        </Button>
        <Button disabled={isBusy} onClick={takeTheirs}>
          Load theirs
        </Button>
        <Button look="primary" disabled={isBusy} onClick={saveMine}>
          Save mine over it
        </Button>
      </div>
    </Modal>
  );
}
