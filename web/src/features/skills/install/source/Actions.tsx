import type { ReactNode } from "react";
import { Button } from "@/ui/Button";
import { Refusal } from "@/ui/Refusal";
import type { Get } from "./Source";

type Props = { get: Get; close: () => void; children?: ReactNode };

/** Why it was refused, if it was, and the ways on. */
export function Actions({ get, close, children }: Props) {
  return (
    <>
      <Refusal error={get.error} />
      <div className="flex justify-end gap-2">
        <Button look="ghost" onClick={close}>
          Close
        </Button>
        {children}
      </div>
    </>
  );
}
