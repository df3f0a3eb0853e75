import { Link } from "@tanstack/react-router";
import { createContext, type ReactNode, useContext } from "react";
import { Skeleton, SkeletonRows } from "./Skeleton";

/** What the shell adds to every page's header: menu button and connection status. */
export type Chrome = { start: ReactNode; end: ReactNode };
export const ChromeContext = createContext<Chrome>({ start: null, end: null });

type Crumb = { label: string; to: string };

/** A page: header with breadcrumbs, state and actions, and a scrolling body. */
export function Page({
  title,
  titleTo,
  crumbs = [],
  state,
  actions,
  children,
}: {
  title: string;
  /** A link for the title, if it names something on another page. */
  titleTo?: string;
  crumbs?: readonly Crumb[];
  state?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  return (
    <>
      <title>{`${title} · Forge`}</title>
      <Header actions={actions}>
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
          <h1 className="truncate font-semibold">
            {titleTo ? (
              <Link to={titleTo} className="rounded-sm underline-offset-2 hover:underline">
                {title}
              </Link>
            ) : (
              title
            )}
          </h1>
        </nav>
        {state}
      </Header>
      <div className="min-h-0 flex-1 overflow-auto">{children}</div>
    </>
  );
}

/** Shown while a page loads. The header is already there, so the layout does not shift. */
export function PendingPage() {
  return (
    <>
      <Header>
        <Skeleton className="appear-late w-40" />
      </Header>
      <SkeletonRows rows={8} label="Loading page" />
    </>
  );
}

function Header({ actions, children }: { actions?: ReactNode; children: ReactNode }) {
  const chrome = useContext(ChromeContext);
  return (
    <header className="flex h-11 shrink-0 items-center gap-2 border-b border-line px-4 max-sm:px-2">
      {chrome.start}
      {children}
      <div className="ml-auto flex shrink-0 items-center gap-2">
        {actions}
        {chrome.end}
      </div>
    </header>
  );
}
