import { Link } from "@tanstack/react-router";
import { createContext, type ReactNode, useContext } from "react";

/** What the shell adds to every page's header: the way to the menu on the left, the connection on the right. */
export type Chrome = { start: ReactNode; end: ReactNode };
export const ChromeContext = createContext<Chrome>({ start: null, end: null });

type Crumb = { label: string; to: string };

/** A page: its header with breadcrumbs, state and actions, and a body that scrolls. */
export function Page({
  title,
  crumbs = [],
  state,
  actions,
  children,
}: {
  title: string;
  crumbs?: readonly Crumb[];
  state?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const chrome = useContext(ChromeContext);
  return (
    <>
      <title>{`${title} · Forge`}</title>
      <header className="flex h-11 shrink-0 items-center gap-2 border-b border-line px-4 max-sm:px-2">
        {chrome.start}
        <nav aria-label="Breadcrumb" className="flex min-w-0 items-center gap-2">
          {crumbs.map((crumb) => (
            <span key={crumb.to} className="flex items-center gap-2 text-dim max-sm:hidden">
              <Link to={crumb.to} className="rounded-sm hover:text-ink">
                {crumb.label}
              </Link>
              <span aria-hidden className="text-faint">
                /
              </span>
            </span>
          ))}
          <h1 className="truncate font-semibold">{title}</h1>
        </nav>
        {state}
        <div className="ml-auto flex shrink-0 items-center gap-2">
          {actions}
          {chrome.end}
        </div>
      </header>
      <div className="min-h-0 flex-1 overflow-auto">{children}</div>
    </>
  );
}
