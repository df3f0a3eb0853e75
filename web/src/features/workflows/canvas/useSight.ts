import { useReactFlow } from "@xyflow/react";
import { type RefObject, useCallback, useEffect, useRef } from "react";
import type { Layout } from "./layout";

const MOVE_MS = 200;

/** Brings a box into sight when its middle is not. */
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

/** Of a high frame, its upper part is what is looked for. */
const MAX_HEIGHT = 200;

/** What somebody selected elsewhere comes into sight: a step that is new, or one that has a problem. */
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
