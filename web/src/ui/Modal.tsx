import { Dialog } from "@base-ui/react/dialog";
import { clsx } from "clsx";
import { X } from "lucide-react";
import type { ReactNode } from "react";
import { IconButton } from "./Button";

type Props = {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  description?: ReactNode;
  children: ReactNode;
  wide?: boolean;
  /** As wide as the page, for side-by-side texts. */
  widest?: boolean;
  /** Do not close on a click outside, which would lose what was typed. Turn off if there is nothing to lose. */
  isHeld?: boolean;
};

/** A modal dialog. Escape and the button close it; the focus is trapped and restored. */
export function Modal({
  open,
  onOpenChange,
  title,
  description,
  children,
  wide = false,
  widest = false,
  isHeld = true,
}: Props) {
  return (
    <Dialog.Root open={open} onOpenChange={onOpenChange} disablePointerDismissal={isHeld}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-scrim" />
        <Dialog.Popup
          className={clsx(
            "fixed top-[12vh] left-1/2 z-50 max-h-[80vh] w-[calc(100vw-24px)] -translate-x-1/2 overflow-auto",
            "max-sm:top-2 max-sm:max-h-[calc(100dvh-16px)]",
            "rounded-lg border border-line bg-surface p-4 shadow-2xl outline-none",
            widest ? "max-w-[1100px]" : wide ? "max-w-[640px]" : "max-w-[460px]",
          )}
        >
          <Dialog.Title className="pr-8 text-base font-semibold break-words">{title}</Dialog.Title>
          {description && <Dialog.Description className="mt-1 text-dim">{description}</Dialog.Description>}
          {children}
          {/* Last, so that the content gets the focus first. */}
          <Dialog.Close render={<IconButton label="Close" className="absolute! top-3 right-3" />}>
            <X size={15} aria-hidden />
          </Dialog.Close>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
