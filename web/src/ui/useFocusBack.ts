import { useEffect, useMemo, useRef } from "react";

/**
 * What closes within a page takes the focus with it, and keys would then mean something else: give it back to where it
 * was before, or to `home` when that is gone. Whoever has it by then keeps it.
 */
export function useFocusBack(isOpen: boolean, home: () => HTMLElement | null | undefined): void {
  const latest = useRef(home);
  useEffect(() => {
    latest.current = home;
  });
  // Not in an effect: a field that wants the focus has it by then.
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
