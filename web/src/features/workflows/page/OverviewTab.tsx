import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import type { WorkflowDetail, WorkflowPlace } from "@/api/types";
import { workflowQuery } from "@/api/workflows";
import { Badge } from "@/ui/Badge";
import { InlineText } from "@/ui/InlineText";
import { Fact, Facts } from "@/ui/KeyValues";
import { Panel } from "@/ui/Panel";
import { SkeletonRows } from "@/ui/Skeleton";
import { Ago } from "@/ui/Time";
import { formatDuration } from "@/ui/time";
import { asDefinition } from "../definition/model";
import { Strip } from "../list/Strip";
import { Inputs } from "./Inputs";
import { Triggers } from "./Triggers";

const route = getRouteApi("/shell/workflows/$ref/");
const Canvas = lazy(() => import("../canvas/Canvas").then(({ Canvas }) => ({ default: Canvas })));

/** Steps, triggers, inputs and recent runs of a workflow. */
export function OverviewTab() {
  const { ref } = route.useParams();
  const { data: workflow } = useSuspenseQuery(workflowQuery(ref));
  const definition = asDefinition(workflow.definition);
  return (
    <div className="mx-auto grid max-w-[1400px] gap-3 p-4 max-sm:p-2 lg:grid-cols-[minmax(0,1fr)_360px]">
      <div className="min-w-0 space-y-3">
        {workflow.description && <p className="px-1 break-words">{workflow.description}</p>}
        <Picture reference={ref} workflow={workflow} />
        <Warnings places={workflow.warnings} />
      </div>
      <div className="min-w-0 space-y-3">
        <Triggers workflow={workflow} />
        <Panel
          title="Recent runs"
          actions={
            <Link
              to="/workflows/$ref/runs"
              params={{ ref }}
              className="rounded-sm px-1 text-xs text-dim hover:text-ink"
            >
              All runs
            </Link>
          }
        >
          <div className="p-3">
            <Strip runs={workflow.last_runs} />
          </div>
        </Panel>
        <Inputs inputs={definition.inputs ?? {}} />
        <About workflow={workflow} />
      </div>
    </div>
  );
}

function Picture({ reference, workflow }: { reference: string; workflow: WorkflowDetail }) {
  const navigate = useNavigate();
  const [selected, setSelected] = useState<readonly string[]>([]);
  return (
    <Panel title="Steps" count={workflow.steps} className="h-[min(60dvh,560px)] min-h-72 overflow-hidden">
      <div className="min-h-0 flex-1">
        <Suspense fallback={<SkeletonRows rows={6} label="Loading canvas" />}>
          <Canvas
            definition={asDefinition(workflow.definition)}
            selected={selected}
            onSelect={setSelected}
            onOpen={() => void navigate({ to: "/workflows/$ref/edit", params: { ref: reference } })}
          />
        </Suspense>
      </div>
    </Panel>
  );
}

/** Warnings of the validation. */
function Warnings({ places }: { places: readonly WorkflowPlace[] }) {
  if (places.length === 0) return null;
  return (
    <Panel title="Warnings" count={places.length}>
      <ul className="divide-y divide-line">
        {places.map(({ line, path, message, hint }) => (
          <li key={`${line} ${path} ${message}`} className="flex items-start gap-3 px-3 py-2">
            <div className="min-w-0 flex-1 break-words">
              <p>
                <InlineText text={message} /> <span className="mono ml-1 text-faint">line {line}</span>
              </p>
              {hint && (
                <p className="text-dim">
                  <InlineText text={hint} />
                </p>
              )}
            </div>
            <Badge tone="wait">warning</Badge>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

const POLICIES = {
  queue: "new runs wait",
  reject: "new runs are rejected",
  cancel_previous: "a new run cancels the oldest",
} as const;

function About({ workflow }: { workflow: WorkflowDetail }) {
  const definition = asDefinition(workflow.definition);
  return (
    <Panel title="About">
      <div className="p-3">
        <Facts>
          <Fact name="Owner">
            {workflow.owner ? (
              <Link
                to="/bots/$slug"
                params={{ slug: workflow.owner }}
                className="mono rounded-sm underline decoration-strong underline-offset-2"
              >
                {workflow.owner}
              </Link>
            ) : (
              "everyone"
            )}
          </Fact>
          <Fact name="Version">
            <span className="mono">{workflow.version}</span>, saved {workflow.number}{" "}
            {workflow.number === 1 ? "time" : "times"}
          </Fact>
          <Fact name="Concurrent runs">
            {definition.concurrency == null
              ? "any number"
              : `${definition.concurrency}; ${POLICIES[definition.concurrency_policy ?? "queue"]}`}
          </Fact>
          {definition.timeout_secs != null && (
            <Fact name="Time limit">{formatDuration(definition.timeout_secs * 1000)} of work</Fact>
          )}
          <Fact name="Changed">
            <Ago at={workflow.updated_at} />
          </Fact>
          <Fact name="Created">
            <Ago at={workflow.created_at} />
          </Fact>
        </Facts>
      </div>
    </Panel>
  );
}
