import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import type { ReactNode } from "react";
import { InlineText } from "@/ui/InlineText";
import { toProblem } from "@/ui/problem";

const needsKey = (problem: unknown): boolean =>
  typeof problem === "object" && problem !== null && "code" in problem && problem.code === "model_key";

/** Why there is no answer, and what to do about it, in place. */
export function Trouble({
  problem,
  className,
  children,
}: {
  problem: unknown;
  className?: string;
  children?: ReactNode;
}) {
  const { message, hint } = toProblem(problem);
  return (
    <div role="alert" className={clsx("wash-bad rounded-md border px-3 py-2", className)}>
      <p className="break-words text-bad">
        <InlineText text={message} />
      </p>
      {hint && (
        <p className="mt-0.5 break-words text-dim">
          <InlineText text={hint} />
        </p>
      )}
      {needsKey(problem) && (
        <Link to="/settings/models" className="mt-1 inline-block rounded-sm underline underline-offset-2">
          Settings → Models
        </Link>
      )}
      {children}
    </div>
  );
}
