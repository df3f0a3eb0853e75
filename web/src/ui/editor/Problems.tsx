import { Dot } from "../Badge";
import { count } from "../count";
import { InlineText } from "../InlineText";
import type { Mistake } from "./mistake";

type Props<One extends Mistake> = {
  problems: readonly One[];
  goTo: (problem: One) => void;
  /** The location of a problem; default: its line. */
  placeOf?: (problem: One) => string;
};

/** The problems of a text. Each links to its line. */
export function Problems<One extends Mistake>(props: Props<One>) {
  return (
    <>
      <ProblemCount problems={props.problems} />
      {props.problems.length > 0 && (
        <div className="max-h-36 shrink-0 overflow-auto rounded-md border border-line bg-surface">
          <ProblemRows {...props} />
        </div>
      )}
    </>
  );
}

/** The number of problems, for screen readers. */
export function ProblemCount({ problems }: { problems: readonly Mistake[] }) {
  return (
    <p role="status" className="sr-only">
      {countOf(problems)}
    </p>
  );
}

/** `2 errors, 1 warning`; empty if there are none. */
export function countOf(problems: readonly Mistake[]): string {
  const warnings = problems.filter(({ is_warning }) => is_warning).length;
  const mistakes = problems.length - warnings;
  return [mistakes > 0 && count(mistakes, "error"), warnings > 0 && count(warnings, "warning")]
    .filter(Boolean)
    .join(", ");
}

export function ProblemRows<One extends Mistake>({ problems, goTo, placeOf = lineOf }: Props<One>) {
  return (
    <ul aria-label="Problems" className="divide-y divide-line">
      {problems.map((problem) => (
        <li key={`${problem.line}:${problem.column}:${problem.message}`}>
          <button
            type="button"
            onClick={() => goTo(problem)}
            className="flex w-full items-baseline gap-2 px-3 py-1 text-left -outline-offset-2 hover:bg-raised/60"
          >
            <Dot tone={problem.is_warning ? "wait" : "bad"} className="translate-y-px" />
            <span className="mono max-w-32 shrink-0 truncate text-dim">{placeOf(problem)}</span>
            <Words problem={problem} />
          </button>
        </li>
      ))}
    </ul>
  );
}

const lineOf = ({ line }: Mistake): string => (line ? `line ${line}` : "file");

function Words({ problem: { message, hint, is_warning: isWarning } }: { problem: Mistake }) {
  return (
    <span className="min-w-0 break-words">
      <span className={isWarning ? "text-wait" : "text-bad"}>
        <span className="sr-only">{isWarning ? "Warning: " : "Error: "}</span>
        <InlineText text={message} />
      </span>{" "}
      {hint && (
        <span className="text-dim">
          <InlineText text={hint} />
        </span>
      )}
    </span>
  );
}
