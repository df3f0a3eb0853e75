/** Which rows of a transcript are expanded. Kept outside the rows, because invisible rows are unmounted. */
import { createContext, useContext, useMemo, useState } from "react";

export type Opened = { has: (id: string) => boolean; toggle: (id: string) => void };

export const OpenedContext = createContext<Opened>({ has: () => false, toggle: () => undefined });

export function useOpened(id: string): { isOpen: boolean; toggle: () => void } {
  const opened = useContext(OpenedContext);
  return { isOpen: opened.has(id), toggle: () => opened.toggle(id) };
}

/** `onOpen` stops following the end, so that the opened row stays in view. */
export function useOpenedSet(onOpen: () => void): Opened {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  return useMemo(
    () => ({
      has: (id) => ids.has(id),
      toggle: (id) => {
        const next = new Set(ids);
        if (next.delete(id)) return setIds(next);
        setIds(next.add(id));
        onOpen();
      },
    }),
    [ids, onOpen],
  );
}
