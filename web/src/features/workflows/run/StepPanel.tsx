import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { ChevronLeft, ChevronRight, X } from "lucide-react";
import { useState } from "react";
import type { WorkflowRunDetail, WorkflowStep } from "@/api/types";
import { workflowStepQuery } from "@/api/workflowRuns";
import { Badge } from "@/ui/Badge";
import { IconButton } from "@/ui/Button";
import { ErrorState } from "@/ui/ErrorState";
import { InlineText } from "@/ui/InlineText";
import { formatMicros } from "@/ui/money";
import { RunTime } from "@/ui/run/RunTime";
import { Segmented } from "@/ui/Segmented";
import { SkeletonRows } from "@/ui/Skeleton";
import { STEP_LOOKS, STEP_TONE } from "../canvas/steps";
import { asDefinition, stepOf, titleOf } from "../definition/model";
import { isSettled, STEP_WORD } from "../words";
import { Attempts } from "./Attempts";
import { type Steps, siblingsOf } from "./marks";
import { Results } from "./Results";
import { Conversation, StepLinks } from "./StepLinks";
import { StepLog, Value } from "./StepValue";

type Props = {
  run: WorkflowRunDetail;
  steps: Steps;
  stepKey: string;
  select: (key: string | null) => void;
};

/** The details of one step: status, input, output, attempts and log. */
export function StepPanel({ run, steps, stepKey, select }: Props) {
  const step = steps.get(stepKey);
  const defined = stepOf(asDefinition(run.definition), step?.step ?? stepKey);
  const type = step?.type ?? defined?.type ?? "code";
  const { icon: Icon, word } = STEP_LOOKS[type];
  return (
    <section aria-label="Step" className="flex min-w-0 flex-col rounded-lg border border-line bg-surface">
      <header className="space-y-1.5 border-b border-line p-3">
        <div className="flex items-center gap-2">
          <Icon size={15} aria-hidden className="shrink-0 text-faint" />
          <h2 className="min-w-0 truncate font-semibold">
            {step?.name || (defined ? titleOf(defined) : stepKey)}
          </h2>
          <span className="text-xs text-dim">{word}</span>
          <span className="ml-auto max-lg:hidden">
            <IconButton label="Close" onClick={() => select(null)}>
              <X size={14} aria-hidden />
            </IconButton>
          </span>
        </div>
        <Standing step={step} />
        <Iterations steps={steps} stepKey={stepKey} select={select} />
        {step && <StepLinks step={step} run={run} />}
      </header>
      {step?.error && step.status !== "completed" && <Mistake step={step} />}
      {step ? (
        <Details runId={run.id} step={step} steps={steps} />
      ) : (
        <p className="p-3 text-dim">Not started{defined ? "" : ", and not in the definition"}.</p>
      )}
    </section>
  );
}

function Standing({ step }: { step: WorkflowStep | undefined }) {
  if (!step) return <Badge tone="idle">not started</Badge>;
  const { status, attempt, note, cost_micros, is_kept, started_at, finished_at } = step;
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <Badge tone={STEP_TONE[status]}>{STEP_WORD[status]}</Badge>
      {is_kept && <span className="text-xs text-dim">kept from the previous run</span>}
      {started_at && status !== "skipped" && !is_kept && (
        <span className="mono text-dim">
          <RunTime run={{ created_at: started_at, started_at, finished_at: finished_at ?? null }} />
        </span>
      )}
      {attempt > 1 && <span className="text-xs text-dim">attempt {attempt}</span>}
      {cost_micros > 0 && <span className="mono text-dim">{formatMicros(cost_micros)}</span>}
      {note && <span className="w-full text-xs break-words text-dim">{note}</span>}
    </div>
  );
}

/** Switches between the iterations of a loop. */
function Iterations({ steps, stepKey, select }: Omit<Props, "run">) {
  const all = siblingsOf(steps, stepKey);
  const at = all.indexOf(stepKey);
  if (all.length < 2) return null;
  const go = (by: number) => select(all[at + by] ?? stepKey);
  return (
    <div className="flex items-center gap-1 text-xs text-dim">
      <IconButton label="Earlier iteration" disabled={at <= 0} onClick={() => go(-1)}>
        <ChevronLeft size={14} aria-hidden />
      </IconButton>
      <span>
        iteration <span className="mono text-ink">{at + 1}</span> of{" "}
        <span className="mono">{all.length}</span>
      </span>
      <IconButton label="Later iteration" disabled={at >= all.length - 1} onClick={() => go(1)}>
        <ChevronRight size={14} aria-hidden />
      </IconButton>
    </div>
  );
}

function Mistake({ step: { error } }: { step: WorkflowStep }) {
  if (!error) return null;
  return (
    <div className="wash-bad space-y-0.5 border-b px-3 py-2">
      <p className="break-words">
        <InlineText text={error.message} />
      </p>
      {error.hint && (
        <p className="text-xs break-words text-dim">
          <InlineText text={error.hint} />
        </p>
      )}
      <p className="mono text-faint">{error.code}</p>
    </div>
  );
}

type Part = "output" | "input" | "attempts" | "log";

function Details({ runId, step, steps }: { runId: string; step: WorkflowStep; steps: Steps }) {
  const [part, setPart] = useState<Part>("output");
  const moved = `${step.status} ${step.attempt}`;
  const query = useQuery({
    ...workflowStepQuery(runId, step.key, moved),
    // Keep the details of the same step while refetching; another step starts empty.
    placeholderData: (before, query) =>
      query?.queryKey[3] === step.key ? keepPreviousData(before) : undefined,
  });
  const found = query.data;
  const options = [
    { value: "output" as const, label: "Output" },
    { value: "input" as const, label: "Input" },
    { value: "attempts" as const, label: `Attempts ${found?.attempts.length ?? ""}`.trim() },
    { value: "log" as const, label: `Log ${found?.logs.length || ""}`.trim() },
  ];
  return (
    <div className="min-w-0 space-y-3 p-3">
      <div className="max-w-full overflow-x-auto">
        <Segmented label="Step details" value={part} options={options} onChange={setPart} />
      </div>
      {query.isPending && <SkeletonRows rows={4} label="Loading step" />}
      {query.isLoadingError && <ErrorState error={query.error} retry={query.refetch} />}
      {found && part === "output" && <Conversation output={found.output} />}
      {found && part === "output" && (
        <Value
          value={found.output}
          name={`${step.step}-output`}
          none={isSettled(step.status) ? "No output." : "No output yet."}
        />
      )}
      {part === "output" && step.type === "loop" && <Results runId={runId} steps={steps} loop={step.key} />}
      {found && part === "input" && (
        <Value value={found.input} name={`${step.step}-input`} none="No input." />
      )}
      {found && part === "attempts" && <Attempts attempts={found.attempts} />}
      {found && part === "log" && <StepLog lines={found.logs} />}
    </div>
  );
}
