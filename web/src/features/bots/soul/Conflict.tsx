import { type ReactNode, useState } from "react";
import type { FileConflict, FileState } from "@/api/types";
import { Diff } from "@/ui/Diff";
import { Modal } from "@/ui/Modal";
import { Segmented } from "@/ui/Segmented";
import { type Ways, WaysOn } from "@/ui/WaysOn";

type View = "both" | "theirs";
const VIEWS: readonly { value: View; label: string }[] = [
  { value: "both", label: "Their version and yours" },
  { value: "theirs", label: "Their changes" },
];

/** Shown if a save failed because the file changed: both texts and the options. */
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

/** Choose which text to keep. Closing it keeps editing. */
export function Choose({ name, current, isBusy, ways, children }: ChooseProps) {
  const isGone = current.hash === null;
  return (
    <Modal
      open
      widest
      onOpenChange={ways.keepEditing}
      title={`${name} was changed by someone else`}
      description={
        isGone
          ? "The file was deleted. Keep your text, restore the last version, then save."
          : "Your text is unsaved but not lost. Choose which version to keep."
      }
    >
      <div className="mt-3 space-y-3">
        {children}
        <WaysOn ways={ways} isBusy={isBusy} isGone={isGone} />
      </div>
    </Modal>
  );
}
