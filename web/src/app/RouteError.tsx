import { type ErrorComponentProps, Link, useRouter, useRouterState } from "@tanstack/react-router";
import { ApiError } from "@/api/client";
import type { Area } from "@/area";
import { buttonClass } from "@/ui/Button";
import { ErrorState } from "@/ui/ErrorState";
import { Page } from "@/ui/Page";
import { AREAS } from "./areas";

/** Shown if a page cannot be loaded or rendered. The rest of the shell keeps working. */
export function RouteError({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const retry = () => {
    reset();
    void router.invalidate();
  };
  const isMissing = error instanceof ApiError && error.status === 404;
  // The list that this page belongs to, if any.
  const area = AREAS.find(({ nav }: Area) => path.startsWith(`${nav.to}/`));
  return (
    <Page
      title={isMissing ? "Not found" : "Something went wrong"}
      crumbs={area ? [{ label: area.label, to: area.nav.to }] : []}
    >
      <ErrorState error={error} {...(!isMissing && { retry })}>
        {isMissing && area && (
          <Link to={area.nav.to} className={buttonClass()}>
            All {area.label.toLowerCase()}
          </Link>
        )}
      </ErrorState>
    </Page>
  );
}

/** The same error without the shell, for when the session could not be read. */
export function ShellError(props: ErrorComponentProps) {
  return (
    <main className="flex h-dvh flex-col">
      <RouteError {...props} />
    </main>
  );
}
