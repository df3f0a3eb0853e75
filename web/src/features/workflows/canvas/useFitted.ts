import { type FitViewOptions, useReactFlow } from "@xyflow/react";
import { type RefObject, useCallback, useEffect, useRef } from "react";

/** Keeps a read-only canvas fitted when its size changes, until the person moves it. Returns the handler for moves. */
export function useFitted(box: RefObject<HTMLDivElement | null>, fit: FitViewOptions, isOn: boolean) {
  const { fitView } = useReactFlow();
  const isMoved = useRef(false);
  useEffect(() => {
    if (!isOn || !box.current) return;
    const observer = new ResizeObserver(() => {
      if (!isMoved.current) void fitView(fit);
    });
    observer.observe(box.current);
    return () => observer.disconnect();
  }, [isOn, box, fit, fitView]);
  // Moves without an event were not made by the person.
  return useCallback((event: unknown) => {
    if (event) isMoved.current = true;
  }, []);
}
