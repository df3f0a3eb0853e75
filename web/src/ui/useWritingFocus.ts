import { useEffect, useRef } from "react";

/**
 * Focuses a text area on arrival, except on touch devices, where the keyboard would hide the page, and if the URL has a
 * hash.
 */
export function useWritingFocus(place = "") {
  const field = useRef<HTMLTextAreaElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies(place): another place is the reason to go there
  useEffect(() => {
    if (!window.matchMedia("(pointer: fine)").matches || window.location.hash) return;
    // Deferred, because a closing dialog restores the focus first.
    const timer = setTimeout(() => field.current?.focus());
    return () => clearTimeout(timer);
  }, [place]);
  return field;
}
