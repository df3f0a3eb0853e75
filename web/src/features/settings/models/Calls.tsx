import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ModelCall } from "@/api/types";
import { EmptyState } from "@/ui/EmptyState";
import { ErrorState } from "@/ui/ErrorState";
import { LoadMore } from "@/ui/LoadMore";
import { formatMicros, formatTokens } from "@/ui/money";
import { Panel } from "@/ui/Panel";
import { SkeletonRows } from "@/ui/Skeleton";
import { Cell, type Column, Row, Table } from "@/ui/Table";
import { Ago } from "@/ui/Time";
import { formatDuration } from "@/ui/time";
import { callsQuery } from "./models";

const COLUMNS: readonly Column[] = [
  { name: "Model" },
  { name: "In", from: "md" },
  { name: "Cache read", from: "md" },
  { name: "Cache write", from: "md" },
  { name: "Out", from: "md" },
  { name: "Cost" },
  { name: "Duration", from: "sm" },
  { name: "Result" },
];

export function Calls() {
  const calls = useInfiniteQuery(callsQuery);
  const loaded = calls.data?.pages.flatMap((page) => page.items);
  return (
    <Panel title="Recent calls">
      {calls.isPending && <SkeletonRows rows={3} label="Loading calls" />}
      {calls.isLoadingError && <ErrorState error={calls.error} retry={calls.refetch} />}
      {loaded?.length === 0 && (
        <EmptyState
          title="No calls yet"
          sentence="Every model request appears here with its tokens and cost."
        />
      )}
      {loaded && loaded.length > 0 && (
        <Table label="Recent calls" columns={COLUMNS}>
          {loaded.map((call) => (
            <CallRow key={call.id} call={call} />
          ))}
        </Table>
      )}
      <LoadMore of={calls} />
    </Panel>
  );
}

function CallRow({ call }: { call: ModelCall }) {
  const { usage } = call;
  const kinds = [usage.input, usage.cache_read, usage.cache_write, usage.output];
  const model = `${call.provider}:${call.model}`;
  return (
    <Row>
      <Cell className="max-w-[180px] py-1.5 sm:max-w-[260px]">
        <p className="mono truncate" title={model}>
          {model}
        </p>
        <p className="text-xs text-dim">
          <Role call={call} />, <Ago at={call.started_at} />
        </p>
      </Cell>
      {kinds.map((count, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: always these four kinds
        <Cell key={index} from="md" className="mono text-dim">
          {formatTokens(count ?? 0)}
        </Cell>
      ))}
      <Cell className="mono">{formatMicros(call.cost_micros)}</Cell>
      <Cell from="sm" className="mono text-dim">
        {call.latency_ms === null ? "" : formatDuration(call.latency_ms)}
      </Cell>
      <Cell className={call.error ? "text-bad" : "text-dim"}>{endOf(call)}</Cell>
    </Row>
  );
}

/** The role of the call, linked to its run. */
function Role({ call: { run_id, role } }: { call: ModelCall }) {
  if (!run_id) return role;
  return (
    <Link
      to="/runs/$runId"
      params={{ runId: run_id }}
      className="rounded-sm underline decoration-strong underline-offset-2 hover:decoration-ink"
    >
      {role}
    </Link>
  );
}

const STATUS_WORD = { open: "in progress", lost: "process died", failed: "failed", settled: "" } as const;

/** How a call ended, in one or two words. */
export function endOf({ error, stop, status }: Pick<ModelCall, "error" | "stop" | "status">): string {
  const word = status === "lost" ? STATUS_WORD.lost : (error ?? stop ?? STATUS_WORD[status]);
  return word.replaceAll("_", " ");
}
