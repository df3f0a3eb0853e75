import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { SquareCheckBig } from "lucide-react";
import { useRef } from "react";
import { AUDIT } from "@/api/audits";
import { allRuns, runsQuery } from "@/api/runs";
import type { Run } from "@/api/types";
import { PartBadge } from "@/ui/audit/PartBadge";
import { StateWord, VerdictWord } from "@/ui/audit/Verdict";
import { Button } from "@/ui/Button";
import { count } from "@/ui/count";
import { EmptyState } from "@/ui/EmptyState";
import { ErrorState } from "@/ui/ErrorState";
import { Kbd } from "@/ui/Kbd";
import { LoadMore } from "@/ui/LoadMore";
import { Page } from "@/ui/Page";
import { SkeletonRows } from "@/ui/Skeleton";
import { useShortcut } from "@/ui/shortcuts";
import { Ago } from "@/ui/Time";
import { useRowKeys } from "@/ui/useRowKeys";
import { StartAudit } from "./StartAudit";
import { type Said, saidOf } from "./summary";

const route = getRouteApi("/shell/audits");

/** All audits, newest first. */
export function AuditsPage() {
  const query = useInfiniteQuery(runsQuery({ kind: AUDIT }));
  const navigate = useNavigate();
  const isStarting = route.useSearch().new === true;
  const setStarting = (isOpen: boolean) =>
    void navigate({ to: "/audits", search: isOpen ? { new: true } : {}, replace: true });
  useShortcut("c", { label: "Audit a project", group: "Audits" }, () => setStarting(true));
  const runs = query.data ? allRuns(query.data) : [];
  const start = (look: "plain" | "primary") => (
    <Button look={look} onClick={() => setStarting(true)}>
      <SquareCheckBig size={13} aria-hidden /> Audit a project <Kbd keys="c" />
    </Button>
  );
  return (
    <Page title="Audits" actions={runs.length > 0 && start("plain")}>
      {query.isPending && <SkeletonRows rows={6} label="Loading audits" />}
      {query.isLoadingError && <ErrorState error={query.error} retry={query.refetch} />}
      {query.data && runs.length === 0 && (
        <EmptyState
          title="No audits yet"
          sentence="An audit checks the changes in a project: scope, layers, dependencies, tests and secrets. It only reads; no project code runs."
          action={start("primary")}
          example={
            <>
              or from a terminal: <code className="mono">forge audit</code>
            </>
          }
        />
      )}
      {runs.length > 0 && <List runs={runs} />}
      <LoadMore of={query} />
      {isStarting && <StartAudit close={() => setStarting(false)} />}
    </Page>
  );
}

function List({ runs }: { runs: readonly Run[] }) {
  const list = useRef<HTMLUListElement>(null);
  useRowKeys(list);
  return (
    <ul ref={list} aria-label="Audits" className="divide-y divide-line border-b border-line *:*:px-4">
      {runs.map((run) => (
        <li key={run.id}>
          <AuditRow run={run} />
        </li>
      ))}
    </ul>
  );
}

function AuditRow({ run }: { run: Run }) {
  const said = saidOf(run);
  return (
    <Link
      to="/runs/$runId"
      params={{ runId: run.id }}
      data-row
      className="grid min-h-9 grid-cols-[96px_minmax(0,1fr)_auto] items-center max-sm:grid-cols-[84px_minmax(0,1fr)_auto] gap-x-3 px-3 -outline-offset-2 hover:bg-raised/60 focus-visible:bg-raised/60 max-sm:min-h-12 max-sm:py-1.5"
    >
      {said ? <VerdictWord verdict={said.overall} /> : <StateWord status={run.status} />}
      <span className="flex min-w-0 items-baseline gap-x-3 max-sm:flex-col">
        <span className="max-w-full shrink-0 truncate font-medium max-sm:break-words max-sm:whitespace-normal">
          {run.title}
        </span>
        {said && <Reason said={said} />}
        {run.error && (
          <span className="max-w-full min-w-0 truncate text-dim max-sm:line-clamp-3 max-sm:break-words max-sm:whitespace-normal">
            {run.error.message}
          </span>
        )}
      </span>
      <Ago at={run.created_at} className="mono min-w-[72px] text-right text-faint" />
    </Link>
  );
}

/** The audited part, the checks that failed and the number of findings. */
function Reason({ said: { part, blocking, findings } }: { said: Said }) {
  return (
    <span className="mono flex min-w-0 flex-1 flex-wrap items-baseline gap-x-3 text-dim max-sm:max-w-full">
      {part && <PartBadge part={part} />}
      {blocking.length > 0 && <span className="text-bad">{blocking.join(" ")}</span>}
      <span className="whitespace-nowrap sm:ml-auto">{count(findings, "finding")}</span>
    </span>
  );
}
