import type { ReactNode } from "react";
import { Button } from "./Button";

type Props = {
  close: () => void;
  /** Whether the form can be submitted: it is valid and not being submitted. */
  isReady: boolean;
  /** Another action at the start of the line. */
  instead?: ReactNode;
  /** The label of the submit button, as a verb. */
  children: ReactNode;
};

/** The buttons of a form in a dialog. */
export function FormActions({ close, isReady, instead, children }: Props) {
  return (
    <div className="flex flex-wrap items-center justify-end gap-2">
      {instead && <span className="mr-auto">{instead}</span>}
      <Button look="ghost" onClick={close}>
        Cancel
      </Button>
      <Button look="primary" type="submit" disabled={!isReady}>
        {children}
      </Button>
    </div>
  );
}
