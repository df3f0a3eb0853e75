import { type ErrorComponentProps, Link, useRouter, useRouterState } from "@tanstack/react-router";
import { ApiError } from "@/api/client";
import type { Area } from "@/area";
import { buttonClass } from "@/ui/Button";
import { ErrorState } from "@/ui/ErrorState";
import { Page } from "@/ui/Page";
import { AREAS } from "./areas";

/** A page that could not be loaded or drawn. The rest of the shell goes on working. */
export function RouteError({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const retry = () => {
    reset();
    void router.invalidate();
  };
  const isMissing = error instanceof ApiError && error.status === 404;
  // Where such things are listed, if this is the page of one.
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

/** The same where there is no shell around it: the server could not even say who is signed in. */
export function ShellError(props: ErrorComponentProps) {
  return (
    <main className="flex h-dvh flex-col">
      <RouteError {...props} />
    </main>
  );
}
