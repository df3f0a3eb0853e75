import { useEffect, useRef } from "react";

/**
 * A field for those who come to this place in order to write; on a phone the keyboard would hide the rest. An address that
 * leads to a part of the page leads there.
 */
export function useWritingFocus(place = "") {
  const field = useRef<HTMLTextAreaElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies(place): another place is the reason to go there
  useEffect(() => {
    if (!window.matchMedia("(pointer: fine)").matches || window.location.hash) return;
    // Not at once: the dialog that led here gives the focus back to where it was opened, once it is gone.
    const timer = setTimeout(() => field.current?.focus());
    return () => clearTimeout(timer);
  }, [place]);
  return field;
}
