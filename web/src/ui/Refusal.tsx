import type { ReactNode } from "react";
import { CopyButton } from "./CopyButton";
import { InlineText } from "./InlineText";
import { toProblem } from "./problem";

/** An inline error from the server: message, hint, actions and details to copy. */
export function Refusal({ error, children }: { error: unknown; children?: ReactNode }) {
  if (!error) return null;
  const { message, hint, details } = toProblem(error);
  return (
    <div role="alert" className="wash-bad flex items-start gap-1 rounded-md border py-0.5 pr-0.5 pl-2.5">
      <div className="min-w-0 flex-1 py-1 break-words">
        <p className="text-bad">
          <InlineText text={message} />
        </p>
        {hint && (
          <p className="mt-0.5 text-xs text-dim">
            <InlineText text={hint} />
          </p>
        )}
        {children}
      </div>
      <CopyButton text={details} label="Copy details" iconOnly />
    </div>
  );
}
