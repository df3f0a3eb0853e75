import { Link } from "@tanstack/react-router";
import { buttonClass } from "@/ui/Button";
import { EmptyState } from "@/ui/EmptyState";
import { Page } from "@/ui/Page";

export function NotFound() {
  return (
    <Page title="Not found">
      <EmptyState
        title="There is nothing here"
        sentence="The address may be mistyped, or what it named was deleted."
        action={
          <Link to="/" className={buttonClass()}>
            Go home
          </Link>
        }
      />
    </Page>
  );
}
