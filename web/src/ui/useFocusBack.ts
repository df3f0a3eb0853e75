import { useEffect, useMemo, useRef } from "react";

/**
 * Restores the focus when a part of the page closes: to the element focused before, or to `home` if that is gone. Does
 * nothing if another element already has the focus.
 */
export function useFocusBack(isOpen: boolean, home: () => HTMLElement | null | undefined): void {
  const latest = useRef(home);
  useEffect(() => {
    latest.current = home;
  });
  // Not in an effect, because a field may have taken the focus by then.
  const before = useMemo(() => (isOpen ? document.activeElement : null), [isOpen]);
  useEffect(() => {
    if (!isOpen) return;
    return () => {
      if (document.activeElement !== document.body) return;
      const isThere = before instanceof HTMLElement && before !== document.body && before.isConnected;
      (isThere ? before : latest.current())?.focus();
    };
  }, [isOpen, before]);
}
