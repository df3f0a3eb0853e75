import { Button } from "./Button";

export type Ways = { takeTheirs: () => void; saveMine: () => void; keepEditing: () => void };

type Props = {
  ways: Ways;
  isBusy: boolean;
  /** There is nothing of theirs to take, or to save on top of. */
  isGone?: boolean;
};

/** Somebody else saved meanwhile: whose counts. Whoever goes on editing has decided nothing. */
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
