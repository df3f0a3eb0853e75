import { RotateCw } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "./Button";
import { CopyButton } from "./CopyButton";
import { InlineText } from "./InlineText";
import { toProblem } from "./problem";

/** An error in place of content: message, hint and details to copy. */
export function ErrorState({
  error,
  retry,
  children,
}: {
  error: unknown;
  retry?: () => void;
  /** Additional actions. */
  children?: ReactNode;
}) {
  const { message, hint, details } = toProblem(error);
  return (
    <div
      role="alert"
      className="mx-auto flex max-w-[480px] flex-col items-center gap-3 px-4 py-10 text-center"
    >
      <div>
        <p className="text-base font-semibold">{message}</p>
        {hint && (
          <p className="mt-1 text-dim">
            <InlineText text={hint} />
          </p>
        )}
      </div>
      <div className="flex flex-wrap justify-center gap-2">
        {retry && (
          <Button onClick={retry}>
            <RotateCw size={13} aria-hidden /> Try again
          </Button>
        )}
        {children}
        <CopyButton text={details} label="Copy details" look="ghost" />
      </div>
    </div>
  );
}
