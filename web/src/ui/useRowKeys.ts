import type { RefObject } from "react";
import { useShortcut } from "./shortcuts";

/** J and K move the focus through the `data-row` links inside `box`. */
export function useRowKeys(box: RefObject<HTMLElement | null>): void {
  const move = (by: 1 | -1) => {
    const rows = [...(box.current?.querySelectorAll<HTMLElement>("[data-row]") ?? [])];
    const at = rows.indexOf(document.activeElement as HTMLElement);
    const next = rows[Math.min(rows.length - 1, Math.max(0, at + by))];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  };
  useShortcut("j", { label: "Next row", group: "Lists" }, () => move(1));
  useShortcut("k", { label: "Previous row", group: "Lists" }, () => move(-1));
}
