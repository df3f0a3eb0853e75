import type { SkillProblem } from "@/api/types";
import { Dot } from "@/ui/Badge";
import { InlineText } from "@/ui/InlineText";

/** Why a skill cannot be installed, and warnings about it. */
export function Mistakes({ problems, isValid }: { problems: readonly SkillProblem[]; isValid: boolean }) {
  if (problems.length === 0 && isValid) return null;
  return (
    <div className={`rounded-md border px-2.5 py-1.5 ${isValid ? "wash-wait" : "wash-bad"}`}>
      {!isValid && <p className="font-medium text-bad">Cannot be installed.</p>}
      <ul aria-label="Problems" className="space-y-0.5">
        {problems.map(({ line, message, hint, is_warning }) => (
          <li key={`${line}:${message}`} className="flex items-baseline gap-2">
            <Dot tone={is_warning ? "wait" : "bad"} className="translate-y-px" />
            {line && <span className="mono shrink-0 text-dim">line {line}</span>}
            <span className="min-w-0 break-words">
              <span className="sr-only">{is_warning ? "Warning: " : "Error: "}</span>
              <InlineText text={message} />{" "}
              {hint && (
                <span className="text-dim">
                  <InlineText text={hint} />
                </span>
              )}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
