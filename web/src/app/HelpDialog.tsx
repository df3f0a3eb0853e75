import { Kbd } from "@/ui/Kbd";
import { Modal } from "@/ui/Modal";
import { type Shortcut, useBoundShortcuts } from "@/ui/shortcuts";

type Props = { open: boolean; onOpenChange: (open: boolean) => void };

/** The shortcuts of the current page, read from the bindings. */
export function HelpDialog({ open, onOpenChange }: Props) {
  return (
    <Modal open={open} onOpenChange={onOpenChange} title="Keyboard shortcuts" wide isHeld={false}>
      <ShortcutTable shortcuts={useBoundShortcuts()} />
    </Modal>
  );
}

function ShortcutTable({ shortcuts }: { shortcuts: readonly Shortcut[] }) {
  const groups = [...new Set(shortcuts.map((shortcut) => shortcut.group))];
  return (
    // Focusable, so that it can be scrolled by keyboard.
    <section aria-label="Shortcuts" tabIndex={0} className="mt-3 gap-8 outline-none sm:columns-2">
      {groups.map((group) => (
        <section key={group} aria-label={group} className="mb-4 break-inside-avoid">
          <h3 className="mb-1 text-xs font-semibold text-dim">{group}</h3>
          <dl>
            {shortcuts
              .filter((shortcut) => shortcut.group === group)
              .map(({ keys, label }) => (
                <div key={keys} className="flex h-7 items-center justify-between gap-3">
                  <dt>{label}</dt>
                  <dd className="text-dim">
                    <Kbd keys={keys} isSpoken />
                  </dd>
                </div>
              ))}
          </dl>
        </section>
      ))}
    </section>
  );
}
