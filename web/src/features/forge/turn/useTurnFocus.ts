import { type RefObject, useEffect, useRef } from "react";

/**
 * Focus each new turn, since the focused element is removed with the old one. Dialogs and a started text keep the
 * focus.
 */
export function useTurnFocus(revision: number, place: RefObject<HTMLElement | null>): void {
  const isFirst = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies(revision): a new turn is the reason to go there
  useEffect(() => {
    const wasFirst = isFirst.current;
    isFirst.current = false;
    const held = document.activeElement;
    if (held?.closest("[role=dialog]")) return;
    if (held instanceof HTMLTextAreaElement && held.value !== "") return;
    // On a fresh page the person may already have focused something.
    if (wasFirst && held !== document.body && held?.id !== "main") return;
    place.current?.focus({ preventScroll: wasFirst });
  }, [revision, place]);
}
