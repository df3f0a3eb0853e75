import { useQuery } from "@tanstack/react-query";
import { clsx } from "clsx";
import { ChevronRight } from "lucide-react";
import { useState } from "react";
import type { WorkflowStep } from "@/api/types";
import { workflowStepQuery } from "@/api/workflowRuns";
import { Dot } from "@/ui/Badge";
import { ErrorState } from "@/ui/ErrorState";
import { SkeletonRows } from "@/ui/Skeleton";
import { STEP_TONE } from "../canvas/steps";
import { STEP_WORD } from "../words";
import { type Iteration, iterationsOf, type Steps } from "./marks";
import { together } from "./rows";
import { Value } from "./StepValue";

/** The outputs of a loop by iteration, loaded when expanded. */
export function Results({ runId, steps, loop }: { runId: string; steps: Steps; loop: string }) {
  const iterations = iterationsOf(steps, loop);
  if (iterations.length === 0) return null;
  return (
    <ol aria-label="Iterations" className="divide-y divide-line rounded-md border border-line">
      {iterations.map((iteration) => (
        <li key={iteration.number}>
          <Result runId={runId} iteration={iteration} />
        </li>
      ))}
    </ol>
  );
}

function Result({ runId, iteration: { number, steps } }: { runId: string; iteration: Iteration }) {
  const [isOpen, setOpen] = useState(false);
  const status = together(steps.map((step) => step.status));
  return (
    <>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="flex h-7 w-full items-center gap-2 px-2 text-left -outline-offset-2 hover:bg-raised/60 pointer-coarse:h-9"
      >
        <ChevronRight
          size={12}
          aria-hidden
          className={clsx("text-faint transition-transform", isOpen && "rotate-90")}
        />
        <Dot tone={STEP_TONE[status]} className="size-1.5" />
        Iteration {number + 1} <span className="text-xs text-dim">{STEP_WORD[status]}</span>
      </button>
      {isOpen && (
        <div className="space-y-3 border-t border-line p-2.5">
          {steps.map((step) => (
            <Given key={step.key} runId={runId} step={step} />
          ))}
        </div>
      )}
    </>
  );
}

function Given({ runId, step }: { runId: string; step: WorkflowStep }) {
  const query = useQuery(workflowStepQuery(runId, step.key, `${step.status} ${step.attempt}`));
  return (
    <section aria-label={step.name || step.step} className="space-y-1">
      <p className="text-xs font-semibold text-dim">{step.name || step.step}</p>
      {query.isPending && <SkeletonRows rows={2} label="Loading output" />}
      {query.isLoadingError && <ErrorState error={query.error} retry={query.refetch} />}
      {query.data && <Value value={query.data.output} name={`${step.step}-output`} none="No output." />}
    </section>
  );
}
