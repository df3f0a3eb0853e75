import { Button } from "./Button";

export type Ways = { takeTheirs: () => void; saveMine: () => void; keepEditing: () => void };

type Props = {
  ways: Ways;
  isBusy: boolean;
  /** The file was deleted: there is no text to use or overwrite. */
  isGone?: boolean;
};

/** The choices after a save conflict. Continuing to edit decides nothing. */
export function WaysOn({ ways, isBusy, isGone = false }: Props) {
  return (
    <div className="flex flex-wrap justify-end gap-2">
      <Button look="ghost" onClick={ways.keepEditing}>
        Keep editing
      </Button>
      <Button disabled={isBusy || isGone} onClick={ways.takeTheirs}>
        Use theirs
      </Button>
      <Button look="primary" disabled={isBusy || isGone} onClick={ways.saveMine}>
        Overwrite with mine
      </Button>
    </div>
  );
}
