import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ArrowRight, Hammer, Play } from "lucide-react";
import { useRef } from "react";
import { openGatesQuery } from "@/api/gates";
import { ACTIVE, allRuns, FINISHED, runsQuery } from "@/api/runs";
import type { Gate, Run } from "@/api/types";
import { useSelfTest } from "@/api/useSelfTest";
import { Dot } from "@/ui/Badge";
import { Button, buttonClass } from "@/ui/Button";
import { EmptyState } from "@/ui/EmptyState";
import { ErrorState } from "@/ui/ErrorState";
import { Page } from "@/ui/Page";
import { Panel } from "@/ui/Panel";
import { RunRow } from "@/ui/run/RunRow";
import { RunSparkline } from "@/ui/run/RunSparkline";
import { SkeletonRows } from "@/ui/Skeleton";
import { Ago } from "@/ui/Time";
import { useRowKeys } from "@/ui/useRowKeys";

const RECENT = 12;

/** Child runs are shown on the page of their parent. */
const isTopLevel = (run: Run): boolean => run.parent_id === null;

/** Open questions, active runs and recent runs, in this order. */
export function HomePage() {
  const gates = useQuery(openGatesQuery);
  const active = useInfiniteQuery(runsQuery({ statuses: ACTIVE }));
  const recent = useInfiniteQuery(runsQuery({ statuses: FINISHED, limit: 3 * RECENT }));
  const box = useRef<HTMLDivElement>(null);
  useRowKeys(box);

  const failed = [gates, active, recent].find((query) => query.isLoadingError);
  const retry = () => Promise.all([gates.refetch(), active.refetch(), recent.refetch()]);
  const isReady = gates.data && active.data && recent.data;
  return (
    <Page
      title="Home"
      actions={
        <Link to="/forge" className={buttonClass()}>
          <Hammer size={13} aria-hidden /> Create with Forge
        </Link>
      }
    >
      <div ref={box} className="mx-auto max-w-[1080px] space-y-3 p-3 max-sm:p-2">
        {failed ? (
          <ErrorState error={failed.error} retry={retry} />
        ) : isReady ? (
          <Board gates={gates.data} active={allRuns(active.data)} recent={allRuns(recent.data)} />
        ) : (
          <SkeletonRows rows={8} label="Loading" />
        )}
      </div>
    </Page>
  );
}

type BoardProps = { gates: readonly Gate[]; active: readonly Run[]; recent: readonly Run[] };

function Board({ gates, active, recent }: BoardProps) {
  if (active.length === 0 && recent.length === 0) return <FirstTime />;
  const running = active.filter(isTopLevel);
  const finished = recent.filter(isTopLevel);
  return (
    <>
      {gates.length > 0 && <NeedsYou gates={gates} runs={active} />}
      <Panel title="In progress" count={running.length}>
        <Runs runs={running} nothing="Nothing is in progress." />
      </Panel>
      <Panel
        title="Recent"
        actions={
          <>
            <RunSparkline runs={finished} />
            <Link to="/runs" className={buttonClass("ghost", "h-6 text-xs")}>
              All runs
            </Link>
          </>
        }
      >
        <Runs runs={finished.slice(0, RECENT)} nothing="No finished runs yet." />
      </Panel>
    </>
  );
}

function Runs({ runs, nothing }: { runs: readonly Run[]; nothing: string }) {
  if (runs.length === 0) return <p className="px-3 py-2 text-dim">{nothing}</p>;
  return (
    <ul className="divide-y divide-line">
      {runs.map((run) => (
        <RunRow key={run.id} run={run} />
      ))}
    </ul>
  );
}

/** Questions are answered on the run's page, which has their context. */
function NeedsYou({ gates, runs }: { gates: readonly Gate[]; runs: readonly Run[] }) {
  return (
    <Panel title="Needs you" count={gates.length} tone="wait">
      <ul className="divide-y divide-inherit border-inherit">
        {gates.map((gate) => (
          <li key={gate.id} className="flex min-h-10 items-center gap-3 border-inherit px-3 py-1.5">
            <Dot tone="wait" />
            <div className="flex min-w-0 flex-1 items-baseline gap-x-3 max-sm:flex-col">
              <span className="max-w-full truncate font-medium">{gate.title}</span>
              <span className="max-w-full truncate text-dim">
                {runs.find((run) => run.id === gate.run_id)?.title}
              </span>
            </div>
            <Ago at={gate.opened_at} className="mono shrink-0 text-dim max-sm:hidden" />
            <Link
              to="/runs/$runId"
              params={{ runId: gate.run_id }}
              data-row
              aria-label={`Answer: ${gate.title}`}
              className={buttonClass("primary")}
            >
              Answer <ArrowRight size={13} aria-hidden />
            </Link>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function FirstTime() {
  const selfTest = useSelfTest();
  return (
    <EmptyState
      title="No runs yet"
      sentence="The self-test is a run with a few steps, one deliberate failure and one question for you."
      action={
        <Button look="primary" disabled={selfTest.isPending} onClick={() => selfTest.mutate()}>
          <Play size={13} aria-hidden /> Run the self-test
        </Button>
      }
      example={
        <>
          or from a terminal: <code className="mono">forge runs start self_test --watch</code>
        </>
      }
    />
  );
}
