import { type ReactNode, useState } from "react";
import { Button } from "./Button";
import { Field } from "./Field";
import { Modal } from "./Modal";

type Props = {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  description: ReactNode;
  /** The label of the button, as a verb: "Cancel run". */
  action: string;
  /** The word to type as confirmation, for actions that cannot be undone. */
  word?: string;
  isBusy?: boolean;
  onConfirm: () => void;
};

export function Confirm(props: Props) {
  return (
    <Modal {...props} isHeld={false}>
      <ConfirmForm {...props} />
    </Modal>
  );
}

function ConfirmForm({ onOpenChange, action, word, isBusy = false, onConfirm }: Props) {
  const [typed, setTyped] = useState("");
  const isSure = word === undefined || typed.trim() === word;
  return (
    <form
      className="mt-4 space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (isSure && !isBusy) onConfirm();
      }}
    >
      {word !== undefined && (
        <Field
          label={
            <>
              Type <span className="mono text-ink select-all">{word}</span> to confirm
            </>
          }
          mono
          autoComplete="off"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      )}
      <div className="flex justify-end gap-2">
        <Button look="ghost" onClick={() => onOpenChange(false)}>
          Go back
        </Button>
        <Button look="danger" type="submit" disabled={!isSure || isBusy}>
          {action}
        </Button>
      </div>
    </form>
  );
}
