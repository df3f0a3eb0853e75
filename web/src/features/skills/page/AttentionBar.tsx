import { Link, useMatchRoute } from "@tanstack/react-router";
import { clsx } from "clsx";
import type { SkillDetail } from "@/api/types";
import { buttonClass } from "@/ui/Button";
import { InlineText } from "@/ui/InlineText";

/** Why a skill is not ready, on all of its pages except the one where it is fixed. */
export function AttentionBar({ skill: { name, state, problem } }: { skill: SkillDetail }) {
  const isThere = Boolean(useMatchRoute()({ to: "/skills/$name/permissions" }));
  if (state === "ready" || (state === "review" && isThere)) return null;
  return (
    <div
      role="status"
      className={clsx(
        "flex flex-wrap items-center gap-x-3 gap-y-1 border-b px-4 py-1.5 max-sm:px-3",
        state === "review" ? "wash-wait" : "wash-bad",
      )}
    >
      <p className="min-w-0 flex-1 break-words">
        <InlineText
          text={
            problem ??
            (state === "review"
              ? "The skill requests capabilities that are not granted yet."
              : "The skill cannot be used.")
          }
        />
      </p>
      {state === "review" && (
        <Link to="/skills/$name/permissions" params={{ name }} className={buttonClass()}>
          Review
        </Link>
      )}
    </div>
  );
}
