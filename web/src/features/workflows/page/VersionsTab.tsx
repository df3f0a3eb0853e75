import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import type { WorkflowVersion } from "@/api/types";
import { workflowQuery, workflowVersionsQuery } from "@/api/workflows";
import { ErrorState } from "@/ui/ErrorState";
import { Panel } from "@/ui/Panel";
import { SkeletonRows } from "@/ui/Skeleton";
import { Ago } from "@/ui/Time";
import { Comparison } from "./Comparison";

const route = getRouteApi("/shell/workflows/$ref/versions");

/** All saved versions and a comparison of two of them. */
export function VersionsTab() {
  const { ref } = route.useParams();
  const pair = route.useSearch();
  const { data: workflow } = useSuspenseQuery(workflowQuery(ref));
  const versions = useQuery(workflowVersionsQuery(ref));
  if (versions.isPending) return <SkeletonRows rows={6} label="Loading versions" />;
  if (versions.isLoadingError) return <ErrorState error={versions.error} retry={versions.refetch} />;
  const found = versions.data;
  const shown = found.some(({ number }) => number === pair.version)
    ? (pair.version ?? workflow.number)
    : workflow.number;
  const before = found.find(({ number }) => number < shown)?.number ?? null;
  const other = found.some(({ number }) => number === pair.with) ? (pair.with ?? before) : before;
  return (
    <div className="flex h-full gap-3 p-4 max-lg:flex-col max-sm:p-2">
      <Panel title="Versions" count={found.length} className="shrink-0 lg:w-64">
        <ol
          aria-label="Versions"
          className="min-h-0 flex-1 divide-y divide-line overflow-auto max-lg:max-h-56"
        >
          {found.map((version) => (
            <li key={version.number}>
              <Version
                reference={ref}
                version={version}
                isShown={version.number === shown}
                isNow={version.number === workflow.number}
              />
            </li>
          ))}
        </ol>
      </Panel>
      <Comparison workflow={workflow} reference={ref} shown={shown} other={other} versions={found} />
    </div>
  );
}

type VersionProps = { reference: string; version: WorkflowVersion; isShown: boolean; isNow: boolean };

function Version({ reference, version: { number, version, by, at }, isShown, isNow }: VersionProps) {
  return (
    <Link
      to="/workflows/$ref/versions"
      params={{ ref: reference }}
      search={{ version: number }}
      replace
      aria-current={isShown ? "true" : undefined}
      activeProps={{}}
      className={clsx(
        "block px-3 py-1.5 -outline-offset-2 hover:bg-raised/60",
        isShown && "bg-raised shadow-[inset_2px_0_0_var(--accent)]",
      )}
    >
      <span className="flex items-baseline gap-2">
        <span className="mono font-semibold">v{number}</span>
        <span className="mono min-w-0 truncate text-faint">{version}</span>
        {isNow && <span className="text-xs text-ok">current</span>}
        <Ago at={at} className="mono ml-auto shrink-0 text-faint" />
      </span>
      <span className="block truncate text-dim">{by}</span>
    </Link>
  );
}
