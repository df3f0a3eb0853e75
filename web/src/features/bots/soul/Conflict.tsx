import { type ReactNode, useState } from "react";
import type { FileConflict, FileState } from "@/api/types";
import { Diff } from "@/ui/Diff";
import { Modal } from "@/ui/Modal";
import { Segmented } from "@/ui/Segmented";
import { type Ways, WaysOn } from "@/ui/WaysOn";

type View = "both" | "theirs";
const VIEWS: readonly { value: View; label: string }[] = [
  { value: "both", label: "Theirs and yours" },
  { value: "theirs", label: "What they changed" },
];

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
  ways: Ways;
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
  ways: Ways;
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
        <WaysOn ways={ways} isBusy={isBusy} isGone={isGone} />
      </div>
    </Modal>
  );
}
