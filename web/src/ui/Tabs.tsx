import { useRouterState } from "@tanstack/react-router";
import { type ReactNode, type RefObject, useEffect, useRef } from "react";

/** For the links inside of `Tabs`: the one to the page that is shown is underlined. */
export const tabClass =
  "flex h-9 items-center gap-1.5 border-b-2 border-transparent px-1 whitespace-nowrap text-dim -outline-offset-2 hover:text-ink aria-[current=page]:border-accent aria-[current=page]:font-medium aria-[current=page]:text-ink";

/** The pages of one thing, side by side. Each is an address of its own, so the tabs are links. */
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

/** Where not all of the links fit beside each other, the one to the page that is shown is among those in sight. */
export function useCurrentInSight(nav: RefObject<HTMLElement | null>): void {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  // biome-ignore lint/correctness/useExhaustiveDependencies(path): another page is another link
  useEffect(() => {
    nav.current?.querySelector("[aria-current=page]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [nav, path]);
}
