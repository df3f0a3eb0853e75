import { type FitViewOptions, useReactFlow } from "@xyflow/react";
import { type RefObject, useCallback, useEffect, useRef } from "react";

/**
 * What is only looked at stays in sight as a whole when its place gets another size: a question that opens above it, a
 * window that turns. Not after somebody has moved it. Gives what is told of moves.
 */
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
  // Without an event it was not a person.
  return useCallback((event: unknown) => {
    if (event) isMoved.current = true;
  }, []);
}
