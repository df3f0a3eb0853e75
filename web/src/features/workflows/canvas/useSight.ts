import { useReactFlow } from "@xyflow/react";
import { type RefObject, useCallback, useEffect, useRef } from "react";
import type { Layout } from "./layout";

const MOVE_MS = 200;

/** Scrolls a box into view if its center is outside. */
export function useSight(box: RefObject<HTMLDivElement | null>, { rects }: Layout) {
  const { setCenter, getViewport } = useReactFlow();
  return useCallback(
    (id: string) => {
      const rect = rects.get(id);
      if (!rect || !box.current) return;
      const { x: left, y: top, zoom } = getViewport();
      const { clientWidth, clientHeight } = box.current;
      const [x, y] = [rect.x + rect.width / 2, rect.y + Math.min(rect.height, MAX_HEIGHT) / 2];
      const [across, down] = [x * zoom + left, y * zoom + top];
      if (across > 0 && across < clientWidth && down > 0 && down < clientHeight) return;
      const isCalm = window.matchMedia?.("(prefers-reduced-motion: reduce)").matches;
      void setCenter(x, y, { zoom, duration: isCalm ? 0 : MOVE_MS });
    },
    [box, rects, setCenter, getViewport],
  );
}

/** For high frames, the upper part is centered. */
const MAX_HEIGHT = 200;

/** Scrolls to a step selected elsewhere: a new one, or one with a problem. */
export function useSelectedInSight(selected: readonly string[], show: (id: string) => void): void {
  const latest = useRef(show);
  useEffect(() => {
    latest.current = show;
  });
  const [one, ...others] = selected;
  const alone = others.length === 0 ? one : undefined;
  useEffect(() => {
    if (alone !== undefined) latest.current(alone);
  }, [alone]);
}
