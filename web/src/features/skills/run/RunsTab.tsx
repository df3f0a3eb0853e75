import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { clsx } from "clsx";
import { ChevronRight } from "lucide-react";
import { useId, useState } from "react";
import { skillRunsQuery } from "@/api/skills";
import type { SkillRun } from "@/api/types";
import { Badge } from "@/ui/Badge";
import { formatBytes } from "@/ui/bytes";
import { EmptyState } from "@/ui/EmptyState";
import { ErrorState } from "@/ui/ErrorState";
import { Fact, Facts } from "@/ui/KeyValues";
import { LoadMore } from "@/ui/LoadMore";
import { formatTokens } from "@/ui/money";
import { SkeletonRows } from "@/ui/Skeleton";
import { Cell, type Column, Row, Table } from "@/ui/Table";
import { Ago } from "@/ui/Time";
import { formatDuration } from "@/ui/time";
import { ENDS } from "./ends";
import { Logs, usedOf } from "./RunResult";

const route = getRouteApi("/shell/skills/$name/runs");

const COLUMNS: readonly Column[] = [
  { name: "Expand", isUnnamed: true },
  { name: "When" },
  { name: "Result" },
  { name: "Who", from: "sm" },
  { name: "Used", from: "md" },
  { name: "Fuel", from: "md" },
  { name: "Memory", from: "md" },
  { name: "Time" },
];

/** All runs, latest first. */
export function RunsTab() {
  const { name } = route.useParams();
  const runs = useInfiniteQuery(skillRunsQuery(name));
  const found = runs.data?.pages.flatMap(({ items }) => items) ?? [];
  if (runs.isPending) return <SkeletonRows rows={8} label="Loading runs" />;
  if (runs.isLoadingError) return <ErrorState error={runs.error} retry={runs.refetch} />;
  if (found.length === 0) {
    return (
      <EmptyState
        title="No runs yet"
        sentence="Every run appears here with its result, permissions used and resources."
        example={
          <>
            Press Run above, or in a terminal: <code className="mono">forge skill run {name}</code>
          </>
        }
      />
    );
  }
  return (
    <>
      <Table label="Runs" columns={COLUMNS}>
        {found.map((run) => (
          <RunRows key={run.id} run={run} />
        ))}
      </Table>
      <LoadMore of={runs} />
    </>
  );
}

function RunRows({ run }: { run: SkillRun }) {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const { word, tone } = ENDS[run.end];
  return (
    <>
      <Row className="cursor-pointer" onClick={() => setOpen(!isOpen)}>
        <Cell className="w-9 pr-0!">
          <button
            type="button"
            aria-expanded={isOpen}
            aria-controls={id}
            aria-label={`Details of run: ${word}`}
            onClick={(event) => {
              event.stopPropagation();
              setOpen(!isOpen);
            }}
            className="grid size-6 place-items-center rounded-sm text-faint hover:text-ink pointer-coarse:size-9"
          >
            <ChevronRight
              size={13}
              aria-hidden
              className={clsx("transition-transform", isOpen && "rotate-90")}
            />
          </button>
        </Cell>
        <Cell>
          <Ago at={run.at} />
        </Cell>
        <Cell>
          <Badge tone={tone}>{word}</Badge>
        </Cell>
        <Cell from="sm">
          {run.by || <span className="text-faint">unknown</span>}{" "}
          <span className="text-xs text-faint">{run.purpose}</span>
        </Cell>
        <Cell from="md" className="max-w-56 truncate">
          {usedOf(run) || <span className="text-faint">nothing</span>}
        </Cell>
        <Cell from="md" className="mono">
          {run.fuel == null ? NOT_MEASURED : formatTokens(run.fuel)}
        </Cell>
        <Cell from="md" className="mono">
          {run.memory_bytes == null ? NOT_MEASURED : formatBytes(run.memory_bytes)}
        </Cell>
        <Cell className="mono">{run.end === "running" ? NOT_MEASURED : formatDuration(run.duration_ms)}</Cell>
      </Row>
      {isOpen && (
        <tr id={id}>
          <td colSpan={COLUMNS.length} className="bg-raised/30 px-4 py-3">
            <Details run={run} />
          </td>
        </tr>
      )}
    </>
  );
}

const NOT_MEASURED = <span className="text-faint">–</span>;

function Details({ run }: { run: SkillRun }) {
  return (
    <div className="max-w-[860px] space-y-3">
      {run.error && (
        <pre className="mono wash-bad rounded-md border px-2.5 py-2 break-words whitespace-pre-wrap">
          {run.error}
        </pre>
      )}
      <Logs lines={run.logs} />
      <Facts>
        <Fact name="Run">
          <span className="mono break-all">{run.id}</span>
        </Fact>
        <Fact name="Version">
          <span className="mono">{run.version}</span> as {run.tier}
        </Fact>
        <Fact name="Used">{usedOf(run) || "nothing"}</Fact>
        <Fact name="Input">
          <Hash of={run.input_hash} />
        </Fact>
        <Fact name="Output">{run.output_hash ? <Hash of={run.output_hash} /> : "none"}</Fact>
        <Fact name="Folder">
          <Hash of={run.folder_hash} />
        </Fact>
      </Facts>
    </div>
  );
}

/** Inputs and outputs are not stored, only their hashes. */
const Hash = ({ of }: { of: string }) => <span className="mono break-all text-dim">{of}</span>;
