import { type RefObject, useEffect, useRef } from "react";

/**
 * The focus goes to each new turn: what had it went with the turn before. Not away from a dialog, and not from a text
 * that somebody is writing.
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
    // Whoever has just opened the page may already be somewhere on it.
    if (wasFirst && held !== document.body && held?.id !== "main") return;
    place.current?.focus({ preventScroll: wasFirst });
  }, [revision, place]);
}
