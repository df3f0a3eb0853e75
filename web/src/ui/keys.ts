/**
 * The notation of shortcuts: `k`, `?`, `end`, `mod+k` (Cmd on a Mac, otherwise Ctrl), `mod+shift+z`, `g h` (a
 * sequence).
 */

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);
const NAMES: Record<string, string> = {
  mod: isMac ? "⌘" : "Ctrl",
  shift: isMac ? "⇧" : "Shift",
  enter: "↵",
  end: "End",
};

/** The labels of the key caps, in order. */
export function keyNames(keys: string): string[] {
  return keys.split(/[ +]/).map((key) => NAMES[key] ?? key.toUpperCase());
}

/** A control's label with its shortcut: "Undo (Ctrl Z)". */
export const withKeys = (label: string, keys: string): string => `${label} (${keyNames(keys).join(" ")})`;

/** The pressed key in this notation, or null if it cannot be a shortcut. */
export function spell(event: KeyboardEvent): string | null {
  if (event.altKey || event.isComposing) return null;
  const key = event.key.toLowerCase();
  if (!event.ctrlKey && !event.metaKey) return key;
  return event.shiftKey ? `mod+shift+${key}` : `mod+${key}`;
}

const TYPED_IN = "input:not([type=checkbox],[type=radio],[type=button],[type=submit]), textarea, select";

export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches(TYPED_IN));
}

type Pressed = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey"> & { preventDefault: () => void };

/** For text areas, where Enter starts a new line: Ctrl+Enter or Cmd+Enter submits. */
export function onSend(send: () => void): (event: Pressed) => void {
  return (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    send();
  };
}
