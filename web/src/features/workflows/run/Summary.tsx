import { Link } from "@tanstack/react-router";
import type { WorkflowRunDetail } from "@/api/types";
import { CopyButton } from "@/ui/CopyButton";
import { JsonView } from "@/ui/JsonView";
import { Fact, Facts } from "@/ui/KeyValues";
import { formatMicros } from "@/ui/money";
import { Panel } from "@/ui/Panel";
import { Ago } from "@/ui/Time";
import { TRIGGERS } from "../words";
import type { RunView } from "./fold";
import { costOf } from "./marks";

const LINK = "rounded-sm underline decoration-strong underline-offset-2";

/** The run as a whole: trigger, input, output and cost. */
export function Summary({ run, view }: { run: WorkflowRunDetail; view: RunView }) {
  const hasPayload = run.payload != null && JSON.stringify(run.payload) !== "{}";
  return (
    <div className="min-w-0 space-y-3">
      {view.output != null && (
        <Panel title="Output">
          <div className="max-h-96 overflow-auto p-3">
            <JsonView value={view.output} name={`${run.workflow_name}-output`} />
          </div>
        </Panel>
      )}
      <Panel title="Run details">
        <div className="p-3">
          <Facts>
            <Fact name="Started by">
              {run.source || TRIGGERS[run.trigger].word}{" "}
              <span className="text-xs text-dim">{TRIGGERS[run.trigger].word}</span>
            </Fact>
            <Fact name="When">
              <Ago at={run.created_at} />
            </Fact>
            <Fact name="Version">
              <Link
                to="/workflows/$ref/versions"
                params={{ ref: run.workflow_id }}
                search={{ version: run.number }}
                className={`mono ${LINK}`}
              >
                v{run.number}
              </Link>
            </Fact>
            <Fact name="Cost">
              <span className="mono">{formatMicros(Math.max(run.cost_micros, costOf(view.steps)))}</span>
            </Fact>
            {run.retry_of && (
              <Fact name="Retry of">
                <RunLink runId={run.retry_of} />
              </Fact>
            )}
            {run.children.length > 0 && (
              <Fact name="Child runs">
                <ul>
                  {run.children.map((runId) => (
                    <li key={runId} className="truncate">
                      <RunLink runId={runId} />
                    </li>
                  ))}
                </ul>
              </Fact>
            )}
            <Fact name="Run">
              <span className="flex items-center gap-1">
                <span className="mono min-w-0 truncate">{run.id}</span>
                <CopyButton text={run.id} label="Copy ID" iconOnly />
              </span>
            </Fact>
          </Facts>
        </div>
      </Panel>
      {hasPayload && (
        <Panel title="What it started with">
          <div className="max-h-96 overflow-auto p-3">
            <JsonView value={run.payload} name={`${run.workflow_name}-payload`} />
          </div>
        </Panel>
      )}
    </div>
  );
}

function RunLink({ runId }: { runId: string }) {
  return (
    <Link to="/runs/$runId" params={{ runId }} className={`mono ${LINK}`}>
      {runId.slice(0, 8)}
    </Link>
  );
}
