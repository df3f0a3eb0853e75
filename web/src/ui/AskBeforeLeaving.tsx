import { useBlocker } from "@tanstack/react-router";
import { Confirm } from "./Confirm";

/** Asks for confirmation before leaving a page with unsaved changes. */
export function AskBeforeLeaving({ when, what }: { when: boolean; what: string }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => when && current.pathname !== next.pathname,
    enableBeforeUnload: () => when,
    withResolver: true,
  });
  return (
    <Confirm
      open={status === "blocked"}
      onOpenChange={() => reset?.()}
      title="Leave without saving?"
      description={`${what} will be lost if you leave this page.`}
      action="Leave"
      onConfirm={() => proceed?.()}
    />
  );
}
