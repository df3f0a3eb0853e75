import { type ReactNode, useState } from "react";
import type { FileConflict, FileState } from "@/api/types";
import { Button } from "@/ui/Button";
import { Diff } from "@/ui/Diff";
import { Modal } from "@/ui/Modal";
import { Segmented } from "@/ui/Segmented";

type View = "both" | "theirs";
const VIEWS: readonly { value: View; label: string }[] = [
  { value: "both", label: "Theirs and yours" },
  { value: "theirs", label: "What they changed" },
];

export type WaysOn = { takeTheirs: () => void; saveMine: () => void; keepEditing: () => void };

/** A save was refused, for the file is another by now: both texts, and the ways on. */
export function Conflict({
  name,
  conflict: { current, theirs, yours },
  isBusy,
  ways,
}: {
  name: string;
  conflict: FileConflict;
  isBusy: boolean;
  ways: WaysOn;
}) {
  const [view, setView] = useState<View>("both");
  return (
    <Choose name={name} current={current} isBusy={isBusy} ways={ways}>
      {theirs && <Segmented label="Compare" value={view} options={VIEWS} onChange={setView} />}
      <Diff diff={view === "theirs" && theirs ? theirs : yours} className="max-h-[48vh]" />
    </Choose>
  );
}

type ChooseProps = {
  name: string;
  current: FileState;
  isBusy: boolean;
  ways: WaysOn;
  children: ReactNode;
};

/** Whose text the file should have. Whoever closes this goes on writing: nothing is decided. */
export function Choose({ name, current, isBusy, ways, children }: ChooseProps) {
  const isGone = current.hash === null;
  return (
    <Modal
      open
      widest
      onOpenChange={ways.keepEditing}
      title={`${name} was changed meanwhile`}
      description={
        isGone
          ? "The file is gone. Keep your text, have the last version written back, then save yours."
          : "Your text is not saved yet, and nothing of it is lost. Choose what the file should say."
      }
    >
      <div className="mt-3 space-y-3">
        {children}
        <div className="flex flex-wrap justify-end gap-2">
          <Button look="ghost" onClick={ways.keepEditing}>
            Keep editing
          </Button>
          <Button disabled={isBusy || isGone} onClick={ways.takeTheirs}>
            Take theirs
          </Button>
          <Button look="primary" disabled={isBusy || isGone} onClick={ways.saveMine}>
            Save mine on top
          </Button>
        </div>
      </div>
    </Modal>
  );
}
