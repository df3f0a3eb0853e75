import { Dialog } from "@base-ui/react/dialog";
import { CommandPalette } from "@/ui/CommandPalette";
import { HelpDialog } from "./HelpDialog";
import type { Overlay } from "./overlay";
import { Sidebar } from "./Sidebar";
import { useCommands } from "./useCommands";

type Props = { shown: Overlay | null; show: (overlay: Overlay | null) => void };

/** Palette, help and mobile menu, loaded after the page. */
export function Overlays({ shown, show }: Props) {
  const toggle = (overlay: Overlay) => (isOpen: boolean) => show(isOpen ? overlay : null);
  const commands = useCommands(show);
  return (
    <>
      <CommandPalette
        open={shown === "palette"}
        onOpenChange={toggle("palette")}
        commands={shown === "palette" ? commands() : []}
      />
      <HelpDialog open={shown === "help"} onOpenChange={toggle("help")} />
      <Dialog.Root open={shown === "menu"} onOpenChange={toggle("menu")}>
        <Dialog.Portal>
          <Dialog.Backdrop className="fixed inset-0 z-40 bg-scrim" />
          <Dialog.Popup
            aria-label="Menu"
            className="fixed inset-y-0 left-0 z-50 w-[240px] overflow-y-auto border-r border-line bg-bg outline-none"
          >
            <Sidebar open={show} onFollow={() => show(null)} />
          </Dialog.Popup>
        </Dialog.Portal>
      </Dialog.Root>
    </>
  );
}
