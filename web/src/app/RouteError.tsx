import { type ErrorComponentProps, useRouter } from "@tanstack/react-router";
import { ApiError } from "@/api/client";
import { ErrorState } from "@/ui/ErrorState";
import { Page } from "@/ui/Page";

/** A page that could not be loaded or drawn. The rest of the shell goes on working. */
export function RouteError({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const retry = () => {
    reset();
    void router.invalidate();
  };
  const isMissing = error instanceof ApiError && error.status === 404;
  return (
    <Page title={isMissing ? "Not found" : "Something went wrong"}>
      <ErrorState error={error} retry={retry} />
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
