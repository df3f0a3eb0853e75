import type { WorkflowPlace } from "@/api/types";
import { countOf, ProblemCount, ProblemRows } from "@/ui/editor/Problems";

type Props = { problems: readonly WorkflowPlace[]; open: (problem: WorkflowPlace) => void };

/** The problems of the workflow, below the canvas. Each links to its step. */
export function ProblemList({ problems, open }: Props) {
  return (
    <>
      <ProblemCount problems={problems} />
      {problems.length > 0 && (
        <details open className="max-h-32 shrink-0 overflow-auto border-t border-line bg-surface">
          <summary className="sticky top-0 cursor-pointer border-b border-line bg-surface px-3 py-1 text-xs font-medium text-dim -outline-offset-2">
            {countOf(problems)}
          </summary>
          <ProblemRows problems={problems} goTo={open} placeOf={({ step }) => step ?? "workflow"} />
        </details>
      )}
    </>
  );
}
