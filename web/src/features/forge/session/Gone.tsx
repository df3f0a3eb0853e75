import { Link } from "@tanstack/react-router";
import { buttonClass } from "@/ui/Button";
import { EmptyState } from "@/ui/EmptyState";
import { Page } from "@/ui/Page";

/** Shown if the interview was deleted while the page was open. */
export function Gone({ title }: { title: string }) {
  return (
    <Page title={title} crumbs={[{ label: "Forge", to: "/forge" }]}>
      <EmptyState
        title="This interview was discarded"
        sentence="It was deleted while this page was open."
        action={
          <Link to="/forge" className={buttonClass("primary")}>
            Start another
          </Link>
        }
      />
    </Page>
  );
}
