import type { ReactNode } from "react";
import { Button } from "@/ui/Button";
import { Refusal } from "@/ui/Refusal";
import type { Get } from "./Source";

type Props = { get: Get; close: () => void; children?: ReactNode };

/** The error of the last fetch, and the buttons. */
export function Actions({ get, close, children }: Props) {
  return (
    <>
      <Refusal error={get.error} />
      <div className="flex justify-end gap-2">
        <Button look="ghost" onClick={close}>
          Cancel
        </Button>
        {children}
      </div>
    </>
  );
}
