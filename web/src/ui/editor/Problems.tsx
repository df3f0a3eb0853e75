import { clsx } from "clsx";
import { Dot } from "../Badge";
import { count } from "../count";
import { InlineText } from "../InlineText";

/** One thing that is wrong, and where. */
export type ShownMistake = {
  line?: number | null;
  column?: number | null;
  message: string;
  hint?: string | null;
  is_warning: boolean;
};

type Props = { problems: readonly ShownMistake[]; goTo: (problem: ShownMistake) => void };

/** What is wrong with the text. Each one leads to its line. */
export function Problems({ problems, goTo }: Props) {
  const mistakes = problems.filter((problem) => !problem.is_warning).length;
  return (
    <>
      <p role="status" className="sr-only">
        {problems.length > 0 &&
          `${count(mistakes, "mistake")}, ${count(problems.length - mistakes, "warning")}`}
      </p>
      {problems.length > 0 && (
        <ul
          aria-label="Problems"
          className="max-h-36 shrink-0 divide-y divide-line overflow-auto rounded-md border border-line bg-surface"
        >
          {problems.map((problem) => (
            <li key={`${problem.line}:${problem.column}:${problem.message}`}>
              <Problem problem={problem} goTo={goTo} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function Problem({ problem, goTo }: { problem: ShownMistake; goTo: Props["goTo"] }) {
  const { line, message, hint, is_warning: isWarning } = problem;
  return (
    <button
      type="button"
      onClick={() => goTo(problem)}
      className="flex w-full items-baseline gap-2 px-3 py-1 text-left -outline-offset-2 hover:bg-raised/60"
    >
      <Dot tone={isWarning ? "wait" : "bad"} className="translate-y-px" />
      <span className="mono shrink-0 text-dim">{line ? `line ${line}` : "file"}</span>
      <span className="min-w-0 break-words">
        <span className={clsx(isWarning ? "text-wait" : "text-bad")}>
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
