import type { ReactNode } from "react";
import { Button } from "./Button";

type Props = {
  close: () => void;
  /** Whether it can be sent: all is filled in, and it is not under way already. */
  isReady: boolean;
  /** Another way out, at the other end of the line. */
  instead?: ReactNode;
  /** What sending does, as a verb. */
  children: ReactNode;
};

/** The end of a form in a dialog. */
export function FormActions({ close, isReady, instead, children }: Props) {
  return (
    <div className="flex flex-wrap items-center justify-end gap-2">
      {instead && <span className="mr-auto">{instead}</span>}
      <Button look="ghost" onClick={close}>
        Close
      </Button>
      <Button look="primary" type="submit" disabled={!isReady}>
        {children}
      </Button>
    </div>
  );
}
