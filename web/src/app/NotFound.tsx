import { Link } from "@tanstack/react-router";
import { buttonClass } from "@/ui/Button";
import { EmptyState } from "@/ui/EmptyState";
import { Page } from "@/ui/Page";

export function NotFound() {
  return (
    <Page title="Not found">
      <EmptyState
        title="Page not found"
        sentence="The address may be wrong, or the item was deleted."
        action={
          <Link to="/" className={buttonClass()}>
            Go home
          </Link>
        }
      />
    </Page>
  );
}
