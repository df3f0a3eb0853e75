import { Dialog } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import type { ReactNode } from "react";
import { IconButton } from "./Button";

type Props = {
  close: () => void;
  title: string;
  description?: ReactNode;
  children: ReactNode;
  /** Do not close on a click outside, which would lose what was typed. Turn off for read-only content. */
  isHeld?: boolean;
};

/** A dialog at the right edge; the page stays visible beside it. */
export function Drawer({ close, title, description, children, isHeld = true }: Props) {
  return (
    <Dialog.Root open onOpenChange={close} disablePointerDismissal={isHeld}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-scrim" />
        <Dialog.Popup className="fixed inset-y-0 right-0 z-50 flex w-full max-w-[560px] flex-col border-l border-line bg-surface shadow-2xl outline-none">
          <header className="shrink-0 border-b border-line px-4 py-3 pr-12">
            <Dialog.Title className="text-base font-semibold break-words">{title}</Dialog.Title>
            {description && <Dialog.Description className="text-dim">{description}</Dialog.Description>}
          </header>
          <div className="min-h-0 flex-1 overflow-auto p-4">{children}</div>
          {/* Last, so that the content gets the focus first. */}
          <Dialog.Close render={<IconButton label="Close" className="absolute! top-2.5 right-3" />}>
            <X size={15} aria-hidden />
          </Dialog.Close>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
