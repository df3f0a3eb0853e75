import { type KeyboardEvent, type RefObject, useLayoutEffect, useState, type WheelEvent } from "react";

const AT_END_PX = 24;
const UPWARD_KEYS = ["ArrowUp", "PageUp", "Home"];

/**
 * Keeps a scrolling box at its end while it grows. Only the reader's own gesture stops that, never the
 * growth itself: content may arrive faster than it is drawn. `extent` is anything that changes with the height.
 */
export function useFollow(box: RefObject<HTMLElement | null>, extent: number) {
  const [isFollowing, setFollowing] = useState(true);

  // biome-ignore lint/correctness/useExhaustiveDependencies(extent): a new height is the reason to scroll
  useLayoutEffect(() => {
    if (isFollowing && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [isFollowing, extent, box]);

  const settle = () => {
    const element = box.current;
    if (element) setFollowing(element.scrollHeight - element.scrollTop - element.clientHeight < AT_END_PX);
  };
  const gestures = {
    onWheel: (event: WheelEvent) => (event.deltaY < 0 ? setFollowing(false) : settle()),
    onKeyDown: (event: KeyboardEvent) => UPWARD_KEYS.includes(event.key) && setFollowing(false),
    onKeyUp: settle,
    onPointerUp: settle,
    onTouchMove: settle,
  };
  return { isFollowing, follow: () => setFollowing(true), gestures };
}
