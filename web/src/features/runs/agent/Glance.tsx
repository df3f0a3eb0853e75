import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { RunDetail } from "@/api/types";
import { workspaceQuery } from "@/api/workspaces";
import { Fact, Facts } from "@/ui/KeyValues";
import { formatMicros, formatTokens } from "@/ui/money";
import { Panel } from "@/ui/Panel";
import { ProgressBar } from "@/ui/ProgressBar";
import { SandboxBadge } from "@/ui/SandboxBadge";
import { SkeletonRows } from "@/ui/Skeleton";
import { Identity } from "../Identity";
import type { AgentView } from "./fold";
import type { AgentGiven } from "./given";
import { tokenKinds, totalOf } from "./words";

type Props = { view: AgentView; given: AgentGiven; detail: RunDetail; isLoading: boolean };

/** Cost, limits and changed files. */
export function Glance({ view, given, detail, isLoading }: Props) {
  return (
    <aside aria-label="Overview" className="flex min-h-0 flex-col gap-3 lg:overflow-auto">
      <Panel title="So far" className="shrink-0">
        {isLoading ? (
          <SkeletonRows rows={4} label="Loading cost" />
        ) : (
          <div className="space-y-3 p-3">
            <Cost view={view} />
            <Context share={view.contextUsed} />
          </div>
        )}
      </Panel>
      <Panel title="Agent" className="shrink-0">
        <div className="p-3">
          <Facts>
            {given.workspaceId && (
              <Fact name="Workspace">
                <WorkspaceLink id={given.workspaceId} />
              </Fact>
            )}
            <Fact name="Role">{view.started?.role ?? given.role ?? "–"}</Fact>
            <Fact name="Model">
              <Machine>{view.model ?? "–"}</Machine>
            </Fact>
            <Fact name="Commands">{view.started ? <SandboxBadge level={view.started.sandbox} /> : "–"}</Fact>
          </Facts>
        </div>
      </Panel>
      <Changed files={view.changed} workspaceId={given.workspaceId} />
      <Identity run={detail.run} />
    </aside>
  );
}

function Cost({ view }: { view: AgentView }) {
  const limit = view.started?.limits?.turns;
  return (
    <Facts>
      <Fact name="Cost">
        <Machine>{formatMicros(view.costMicros)}</Machine>
      </Fact>
      <Fact name="Turns">
        <Machine>
          {view.turn}
          {limit !== undefined && ` of ${limit}`}
        </Machine>
      </Fact>
      <Fact name="Tokens">
        <Machine>{formatTokens(totalOf(view.usage))}</Machine>
      </Fact>
      {tokenKinds(view.usage).map(([name, count]) => (
        <Fact key={name} name={<span className="pl-3 text-xs">{name}</span>}>
          <span className="mono text-dim">{formatTokens(count)}</span>
        </Fact>
      ))}
    </Facts>
  );
}

function Context({ share }: { share: number }) {
  const percent = Math.round(share * 100);
  return (
    <div>
      <p className="mb-1 flex text-xs text-dim">
        Context window <span className="mono ml-auto">{percent}%</span>
      </p>
      <ProgressBar done={percent} total={100} label="Context window" tone={share > 0.8 ? "wait" : "run"} />
    </div>
  );
}

function WorkspaceLink({ id }: { id: string }) {
  const workspace = useQuery(workspaceQuery(id));
  if (workspace.isError) return <span className="text-dim">removed</span>;
  return (
    <Link
      to="/workspaces/$workspaceId"
      params={{ workspaceId: id }}
      className="rounded-sm underline decoration-strong underline-offset-2 hover:decoration-ink"
    >
      {workspace.data?.name ?? "…"}
    </Link>
  );
}

function Changed({ files, workspaceId }: { files: ReadonlyMap<string, number>; workspaceId: string | null }) {
  if (files.size === 0) return null;
  return (
    <Panel title="Changed files" count={files.size} className="shrink-0">
      <ul className="max-h-64 overflow-auto py-1">
        {[...files].map(([path, times]) => (
          <li key={path} className="mono flex gap-2 px-3 leading-6">
            <ChangedFile path={path} workspaceId={workspaceId} />
            {times > 1 && <span className="ml-auto shrink-0 text-faint">{times}×</span>}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function ChangedFile({ path, workspaceId }: { path: string; workspaceId: string | null }) {
  if (!workspaceId) return <span className="min-w-0 truncate">{path}</span>;
  return (
    <Link
      to="/workspaces/$workspaceId"
      params={{ workspaceId }}
      search={{ file: path }}
      title={path}
      className="min-w-0 truncate rounded-sm hover:underline"
    >
      {path}
    </Link>
  );
}

const Machine = ({ children }: { children: ReactNode }) => <span className="mono">{children}</span>;
