import type { WorkflowPlace } from "@/api/types";
import { Dot } from "@/ui/Badge";
import { count } from "@/ui/count";
import { InlineText } from "@/ui/InlineText";

type Props = { problems: readonly WorkflowPlace[]; open: (problem: WorkflowPlace) => void };

/** What is wrong with the workflow, below the canvas. Each one leads to its step. */
export function ProblemList({ problems, open }: Props) {
  const mistakes = problems.filter(({ is_warning: isWarning }) => !isWarning).length;
  const warnings = problems.length - mistakes;
  const words = [mistakes > 0 && count(mistakes, "mistake"), warnings > 0 && count(warnings, "warning")]
    .filter(Boolean)
    .join(", ");
  return (
    <>
      <p role="status" className="sr-only">
        {problems.length > 0 && words}
      </p>
      {problems.length > 0 && (
        <details open className="max-h-32 shrink-0 overflow-auto border-t border-line bg-surface">
          <summary className="sticky top-0 cursor-pointer bg-surface px-3 py-1 text-xs font-medium text-dim -outline-offset-2">
            {words}
          </summary>
          <ul aria-label="Problems" className="divide-y divide-line border-t border-line">
            {problems.map((problem) => (
              <li key={`${problem.path} ${problem.message}`}>
                <Problem problem={problem} open={open} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

function Problem({ problem, open }: { problem: WorkflowPlace; open: Props["open"] }) {
  const { step, message, hint, is_warning: isWarning } = problem;
  return (
    <button
      type="button"
      onClick={() => open(problem)}
      className="flex w-full items-baseline gap-2 px-3 py-1 text-left -outline-offset-2 hover:bg-raised/60"
    >
      <Dot tone={isWarning ? "wait" : "bad"} className="translate-y-px" />
      <span className="mono max-w-32 shrink-0 truncate text-dim">{step ?? "workflow"}</span>
      <span className="min-w-0 break-words">
        <span className={isWarning ? "text-wait" : "text-bad"}>
          <span className="sr-only">{isWarning ? "Warning: " : "Mistake: "}</span>
          <InlineText text={message} />
        </span>{" "}
        {hint && (
          <span className="text-dim">
            <InlineText text={hint} />
          </span>
        )}
      </span>
    </button>
  );
}
