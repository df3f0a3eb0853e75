import {
  type KeyboardEvent,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  type WheelEvent,
} from "react";

const AT_END_PX = 24;
const UPWARD_KEYS = ["ArrowUp", "PageUp", "Home"];

/**
 * Keeps a scrolling box at its end while it grows. Only a gesture of the reader stops that, because content may arrive
 * faster than it is rendered. `extent` is any value that changes with the height.
 */
export function useFollow(box: RefObject<HTMLElement | null>, extent: number) {
  const [isFollowing, setFollowing] = useState(true);
  useResize(box, () => isFollowing && toEnd(box.current));

  // biome-ignore lint/correctness/useExhaustiveDependencies(extent): a new height is the reason to scroll
  useLayoutEffect(() => {
    if (isFollowing) toEnd(box.current);
  }, [isFollowing, extent, box]);

  const settle = () => {
    const element = box.current;
    if (element) setFollowing(element.scrollHeight - element.scrollTop - element.clientHeight < AT_END_PX);
  };
  const hold = useCallback(() => setFollowing(false), []);
  const follow = useCallback(() => setFollowing(true), []);
  const gestures = {
    onWheel: (event: WheelEvent) => (event.deltaY < 0 ? hold() : settle()),
    onKeyDown: (event: KeyboardEvent) => UPWARD_KEYS.includes(event.key) && hold(),
    onKeyUp: settle,
    onPointerUp: settle,
    onTouchMove: settle,
  };
  return { isFollowing, follow, hold, gestures };
}

function toEnd(element: HTMLElement | null): void {
  if (element) element.scrollTop = element.scrollHeight;
}

/** The box may shrink, and its content may grow after it was rendered. */
function useResize(box: RefObject<HTMLElement | null>, onResize: () => void): void {
  const latest = useRef(onResize);
  useEffect(() => {
    latest.current = onResize;
  });
  useEffect(() => {
    if (!box.current || typeof ResizeObserver === "undefined") return;
    const observer = new ResizeObserver(() => latest.current());
    for (const element of [box.current, ...box.current.children]) observer.observe(element);
    return () => observer.disconnect();
  }, [box]);
}
