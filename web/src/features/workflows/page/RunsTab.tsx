import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useRef } from "react";
import type { WorkflowRun } from "@/api/types";
import { runsOfWorkflowQuery } from "@/api/workflows";
import { EmptyState } from "@/ui/EmptyState";
import { ErrorState } from "@/ui/ErrorState";
import { LoadMore } from "@/ui/LoadMore";
import { formatMicros } from "@/ui/money";
import { RunState } from "@/ui/run/RunStatus";
import { RunTime } from "@/ui/run/RunTime";
import { SkeletonRows } from "@/ui/Skeleton";
import { Cell, type Column, Row, Table } from "@/ui/Table";
import { Ago } from "@/ui/Time";
import { useRowKeys } from "@/ui/useRowKeys";
import { TRIGGERS } from "../words";

const route = getRouteApi("/shell/workflows/$ref/runs");

const COLUMNS: readonly Column[] = [
  { name: "Status" },
  { name: "When" },
  { name: "Started by" },
  { name: "Version", from: "sm" },
  { name: "Cost", from: "sm" },
  { name: "Time" },
  { name: "Error", from: "md" },
];

/** All runs, latest first. */
export function RunsTab() {
  const { ref } = route.useParams();
  const runs = useInfiniteQuery(runsOfWorkflowQuery(ref));
  const box = useRef<HTMLDivElement>(null);
  useRowKeys(box);
  const found = runs.data?.pages.flatMap(({ items }) => items) ?? [];
  if (runs.isPending) return <SkeletonRows rows={8} label="Loading runs" />;
  if (runs.isLoadingError) return <ErrorState error={runs.error} retry={runs.refetch} />;
  if (found.length === 0) {
    return (
      <EmptyState
        title="No runs yet"
        sentence="Every run appears here with its trigger, steps and cost."
        example={
          <>
            Press Run above, or in a terminal: <code className="mono">forge workflow trigger {ref}</code>
          </>
        }
      />
    );
  }
  return (
    <div ref={box}>
      <Table label="Runs" columns={COLUMNS}>
        {found.map((run) => (
          <RunLine key={run.id} run={run} />
        ))}
      </Table>
      <LoadMore of={runs} />
    </div>
  );
}

function RunLine({ run }: { run: WorkflowRun }) {
  return (
    <Row>
      <Cell>
        <Link
          to="/workflows/runs/$runId"
          params={{ runId: run.id }}
          data-row
          className="inline-flex rounded-sm underline-offset-2 hover:underline"
        >
          <RunState status={run.status} />
        </Link>
      </Cell>
      <Cell>
        <Ago at={run.created_at} />
      </Cell>
      <Cell className="max-w-60 truncate" title={run.source}>
        {run.source || TRIGGERS[run.trigger].word}{" "}
        <span className="text-xs text-faint">{TRIGGERS[run.trigger].word}</span>
      </Cell>
      <Cell from="sm" className="mono">
        v{run.number}
      </Cell>
      <Cell from="sm" className="mono">
        {run.cost_micros > 0 ? formatMicros(run.cost_micros) : <span className="text-faint">–</span>}
      </Cell>
      <Cell className="mono">
        <RunTime run={run} />
      </Cell>
      <Cell from="md" className="max-w-80 truncate text-dim" title={run.error?.message}>
        {run.error?.message}
      </Cell>
    </Row>
  );
}
