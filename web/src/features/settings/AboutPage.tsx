import { useQuery } from "@tanstack/react-query";
import { statusQuery } from "@/api/system";
import type { SystemStatus } from "@/api/types";
import { formatBytes } from "@/ui/bytes";
import { ErrorState } from "@/ui/ErrorState";
import { Fact, Facts } from "@/ui/KeyValues";
import { Panel } from "@/ui/Panel";
import { SkeletonRows } from "@/ui/Skeleton";
import { Cell, type Column, Row, Table } from "@/ui/Table";
import { Elapsed } from "@/ui/Time";
import { SandboxPanel } from "./SandboxPanel";

export function AboutPage() {
  const status = useQuery(statusQuery);
  if (status.isPending) return <SkeletonRows rows={4} label="Loading status" />;
  if (status.isLoadingError) return <ErrorState error={status.error} retry={status.refetch} />;
  return (
    <>
      <Server status={status.data} />
      <SandboxPanel report={status.data.sandbox} />
      <Workers workers={status.data.workers} />
      <ForMachines />
    </>
  );
}

const DATABASES: Record<string, string> = { sqlite: "SQLite", postgresql: "PostgreSQL" };

function Server({ status }: { status: SystemStatus }) {
  return (
    <Panel title="Server">
      <div className="p-3">
        <Facts>
          <Fact name="Version">
            <span className="mono">{status.version}</span>
          </Fact>
          <Fact name="Uptime">
            <span className="mono">
              <Elapsed from={status.started_at} />
            </span>
          </Fact>
          <Fact name="Database">
            {DATABASES[status.database.kind] ?? status.database.kind},{" "}
            {formatBytes(status.database.size_bytes)}
          </Fact>
          <Fact name="Data">
            <span className="mono">{status.data_dir}</span>
          </Fact>
          <Fact name="Runs">
            {Object.entries(status.runs)
              .map(([word, count]) => `${count} ${word}`)
              .join(", ") || "none yet"}
          </Fact>
        </Facts>
      </div>
    </Panel>
  );
}

const COLUMNS: readonly Column[] = [
  { name: "Worker" },
  { name: "Machine", from: "sm" },
  { name: "Process", from: "sm" },
  { name: "Uptime" },
];

function Workers({ workers }: { workers: SystemStatus["workers"] }) {
  return (
    <Panel title="Workers" count={workers.length}>
      {workers.length === 0 ? (
        <p className="p-3 text-dim">No worker is running. Runs stay queued until one starts.</p>
      ) : (
        <Table label="Workers" columns={COLUMNS}>
          {workers.map((worker) => (
            <Row key={worker.id}>
              <Cell className="mono">{worker.id}</Cell>
              <Cell from="sm">{worker.host}</Cell>
              <Cell from="sm" className="mono text-dim">
                {worker.pid}
              </Cell>
              <Cell className="mono text-dim">
                <Elapsed from={worker.started_at} />
              </Cell>
            </Row>
          ))}
        </Table>
      )}
    </Panel>
  );
}

const ENDPOINTS = [
  { href: "/api/v1/openapi.json", name: "API", what: "OpenAPI document" },
  { href: "/metrics", name: "Metrics", what: "Prometheus metrics" },
  { href: "/health", name: "Health", what: "health check" },
] as const;

function ForMachines() {
  return (
    <Panel title="Endpoints">
      <div className="p-3">
        <Facts>
          {ENDPOINTS.map(({ href, name, what }) => (
            <Fact key={href} name={name}>
              <a
                href={href}
                className="mono rounded-sm underline decoration-strong underline-offset-2 hover:decoration-ink"
              >
                {href}
              </a>{" "}
              <span className="text-dim">{what}</span>
            </Fact>
          ))}
        </Facts>
      </div>
    </Panel>
  );
}
