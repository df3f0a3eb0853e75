import { type ErrorComponentProps, getRouteApi, Link, useRouter } from "@tanstack/react-router";
import { ApiError } from "@/api/client";
import { buttonClass } from "@/ui/Button";
import { ErrorState } from "@/ui/ErrorState";
import { Page } from "@/ui/Page";
import { Discard } from "./Discard";

const route = getRouteApi("/shell/forge/$sessionId");

/** Shown if an interview cannot be opened, with a button to delete it. */
export function Unreadable({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const { sessionId } = route.useParams();
  const isMissing = error instanceof ApiError && error.status === 404;
  const retry = () => {
    reset();
    void router.invalidate();
  };
  return (
    <Page
      title={isMissing ? "Not found" : "This draft cannot be opened"}
      crumbs={[{ label: "Forge", to: "/forge" }]}
      actions={!isMissing && <Discard sessionId={sessionId} />}
    >
      <ErrorState error={error} {...(!isMissing && { retry })}>
        {isMissing && (
          <Link to="/forge" className={buttonClass()}>
            All drafts
          </Link>
        )}
      </ErrorState>
    </Page>
  );
}
