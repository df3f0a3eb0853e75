/** Keyboard shortcuts: one listener per page, and the list of current bindings for the help dialog. */
import { useEffect, useRef, useSyncExternalStore } from "react";
import { isTyping, spell } from "./keys";

export type Shortcut = { keys: string; label: string; group: string; run: () => void };

const SEQUENCE_MS = 1200;

export class Shortcuts {
  #bound: readonly Shortcut[] = [];
  #watchers = new Set<() => void>();
  #first: { key: string; at: number } | null = null;

  bind(shortcut: Shortcut): () => void {
    this.#change([...this.#bound, shortcut]);
    return () => this.#change(this.#bound.filter((other) => other !== shortcut));
  }

  list = (): readonly Shortcut[] => this.#bound;

  watch = (onChange: () => void): (() => void) => {
    this.#watchers.add(onChange);
    return () => this.#watchers.delete(onChange);
  };

  handle = (event: KeyboardEvent): void => {
    const key = spell(event);
    if (key === null || event.defaultPrevented || !this.#mayFire(event, key)) return;
    const keys = this.#withFirst(key, event.timeStamp);
    const shortcut = this.#bound.findLast((bound) => bound.keys === keys);
    this.#first = shortcut ? null : { key, at: event.timeStamp };
    if (!shortcut) return;
    event.preventDefault();
    shortcut.run();
  };

  /** Dialogs disable shortcuts; text fields keep all keys without a modifier. */
  #mayFire({ target }: KeyboardEvent, key: string): boolean {
    if (target instanceof Element && target.closest("[role=dialog], [role=alertdialog]")) return false;
    return key.startsWith("mod+") || !isTyping(target);
  }

  #withFirst(key: string, now: number): string {
    const first = this.#first;
    const sequence = `${first?.key} ${key}`;
    const isSequence = first && now - first.at < SEQUENCE_MS && this.#bound.some((s) => s.keys === sequence);
    return isSequence ? sequence : key;
  }

  #change(bound: readonly Shortcut[]): void {
    this.#bound = bound;
    for (const watcher of this.#watchers) watcher();
  }
}

export const shortcuts = new Shortcuts();

/** Bind `keys` while the component is mounted and `enabled`. Every shortcut must also be a visible control. */
export function useShortcut(
  keys: string,
  { label, group, enabled = true }: { label: string; group: string; enabled?: boolean },
  run: () => void,
): void {
  const latest = useRef(run);
  useEffect(() => {
    latest.current = run;
  });
  useEffect(() => {
    if (!enabled) return;
    return shortcuts.bind({ keys, label, group, run: () => latest.current() });
  }, [keys, label, group, enabled]);
}

export function useBoundShortcuts(): readonly Shortcut[] {
  return useSyncExternalStore(shortcuts.watch, shortcuts.list);
}
