import { useRouterState } from "@tanstack/react-router";
import { type ReactNode, type RefObject, useEffect, useRef } from "react";

/** The class of links inside `Tabs`; the current one is underlined. */
export const tabClass =
  "flex h-9 items-center gap-1.5 border-b-2 border-transparent px-1 whitespace-nowrap text-dim -outline-offset-2 hover:text-ink aria-[current=page]:border-accent aria-[current=page]:font-medium aria-[current=page]:text-ink";

/** Tabs with addresses of their own, so they are links. */
export function Tabs({ label, children }: { label: string; children: ReactNode }) {
  const nav = useRef<HTMLElement>(null);
  useCurrentInSight(nav);
  return (
    <nav
      ref={nav}
      aria-label={label}
      className="flex shrink-0 gap-4 overflow-x-auto overflow-y-hidden border-b border-line px-4 max-sm:px-3"
    >
      {children}
    </nav>
  );
}

/** Scrolls the current link into view if not all links fit. */
export function useCurrentInSight(nav: RefObject<HTMLElement | null>): void {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  // biome-ignore lint/correctness/useExhaustiveDependencies(path): another page is another link
  useEffect(() => {
    nav.current?.querySelector("[aria-current=page]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [nav, path]);
}
