import { Modal } from "@/ui/Modal";
import { type Ways, WaysOn } from "@/ui/WaysOn";
import { type Draft, differing, type Texts } from "./draft";

type Props = {
  name: string;
  mine: Draft;
  theirs: Texts;
  isBusy: boolean;
  ways: Ways;
};

/** Shown if the folder changed during editing. Closing it keeps editing. */
export function Conflict({ name, mine, theirs, isBusy, ways }: Props) {
  const byMe = new Set(differing(mine.texts, mine.base.texts));
  const byThem = new Set(differing(theirs, mine.base.texts));
  return (
    <Modal
      open
      wide
      onOpenChange={ways.keepEditing}
      title={`${name} was changed by someone else`}
      description="Your changes are unsaved but not lost. Choose which version to keep."
    >
      <div className="mt-3 space-y-3">
        <ul aria-label="Files that differ" className="divide-y divide-line rounded-md border border-line">
          {differing(mine.texts, theirs).map((path) => (
            <li key={path} className="flex flex-wrap items-baseline gap-x-3 px-3 py-1.5">
              <span className="mono min-w-0 break-all">{path}</span>
              <span className="ml-auto text-dim">
                {whose(byMe.has(path), byThem.has(path))}
                {!(path in theirs) && ", deleted from the folder"}
                {!(path in mine.texts) && ", not in yours"}
              </span>
            </li>
          ))}
        </ul>
        <WaysOn ways={ways} isBusy={isBusy} />
      </div>
    </Modal>
  );
}

function whose(isMine: boolean, isTheirs: boolean): string {
  if (isMine && isTheirs) return "changed by both";
  return isMine ? "changed by you" : "changed by someone else";
}
