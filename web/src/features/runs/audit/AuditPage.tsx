import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { RotateCw } from "lucide-react";
import { useMemo, useState } from "react";
import { startAudit } from "@/api/audits";
import { isFinished } from "@/api/runs";
import type { Event, RunDetail } from "@/api/types";
import { useStream } from "@/api/useStream";
import { stateWord } from "@/ui/audit/Verdict";
import { Button } from "@/ui/Button";
import { ErrorState } from "@/ui/ErrorState";
import { Kbd } from "@/ui/Kbd";
import { LogView } from "@/ui/LogView";
import { Failure } from "@/ui/run/Outcome";
import { Segmented } from "@/ui/Segmented";
import { SkeletonRows } from "@/ui/Skeleton";
import { useShortcut } from "@/ui/shortcuts";
import { foldRun, NOTHING_YET, type RunView } from "../fold";
import { RunFrame } from "../RunFrame";
import { Audited } from "./Audited";
import { sameAudit } from "./again";
import { CheckList } from "./CheckList";
import { EVERYTHING, type Filter } from "./filter";
import { type AuditView, foldAudit, NOT_STARTED, rowsOf } from "./fold";
import { Report } from "./Report";
import { doing } from "./words";

type View = { run: RunView; audit: AuditView };
const NOTHING: View = { run: NOTHING_YET, audit: NOT_STARTED };
const HOME = { label: "Audits", to: "/audits" };
const SHOWN = [
  { value: "findings", label: "Findings" },
  { value: "log", label: "Log" },
] as const;

const fold = (view: View, events: readonly Event[]): View => ({
  run: foldRun(view.run, events),
  audit: foldAudit(view.audit, events),
});

/** The page of an audit: verdict, checks and findings. */
export function AuditPage({ detail }: { detail: RunDetail }) {
  const { run } = detail;
  const { state: view, phase, isUnread, error, retry } = useStream(`run:${run.id}`, fold, NOTHING);
  const [shown, setShown] = useState<(typeof SHOWN)[number]["value"]>("findings");
  const [filter, setFilter] = useState<Filter>(EVERYTHING);
  const change = (changed: Partial<Filter>) => setFilter((before) => ({ ...before, ...changed }));
  const status = view.run.status ?? run.status;
  const isOver = isFinished(status);
  const rows = useMemo(() => rowsOf(view.audit, isOver), [view.audit, isOver]);
  // Before the events are loaded, a missing verdict means nothing.
  const isKnown = phase !== "loading" && !isUnread;
  const verdict = (status === "completed" && view.audit.summary?.overall) || null;

  return (
    <RunFrame
      run={run}
      view={view.run}
      home={HOME}
      isBadgeHidden
      ending={verdict ?? stateWord(status)}
      next={<RunAgain detail={detail} />}
    >
      <div className="flex min-h-full flex-col gap-3 p-3 max-sm:p-2 lg:h-full">
        {isKnown && <Audited detail={detail} audit={view.audit} status={status} verdict={verdict} />}
        {view.run.error && <Failure error={view.run.error} title="The audit failed" />}
        {phase === "failed" && <ErrorState error={error} retry={retry} />}
        {phase === "loading" && <SkeletonRows rows={8} label="Loading audit" />}
        {isKnown && (
          <div className="grid min-h-0 flex-1 grid-cols-1 gap-3 lg:grid-cols-[minmax(280px,340px)_minmax(0,1fr)] lg:grid-rows-[minmax(320px,1fr)]">
            <CheckList
              rows={rows}
              instead={isOver ? "No checks ran." : doing(view).title}
              chosen={filter.check}
              choose={(check) => change({ check })}
            />
            <section
              aria-label="Results"
              className="flex h-[calc(100dvh-60px)] min-h-80 flex-col rounded-lg border border-line bg-surface lg:h-auto"
            >
              <Report
                rows={rows}
                view={view}
                isOver={isOver}
                filter={filter}
                change={change}
                isHidden={shown === "log"}
                choice={<Segmented label="Show" value={shown} options={SHOWN} onChange={setShown} />}
              />
              {shown === "log" && <LogView lines={view.run.log} label="Run log" />}
            </section>
          </div>
        )}
      </div>
    </RunFrame>
  );
}

function RunAgain({ detail }: { detail: RunDetail }) {
  const navigate = useNavigate();
  const start = useMutation({
    mutationFn: () => startAudit(sameAudit(detail)),
    onSuccess: (run) => navigate({ to: "/runs/$runId", params: { runId: run.id } }),
  });
  useShortcut("r", { label: "Run again", group: "Audit" }, () => !start.isPending && start.mutate());
  return (
    <Button onClick={() => start.mutate()} disabled={start.isPending}>
      <RotateCw size={13} aria-hidden /> Run again <Kbd keys="r" />
    </Button>
  );
}
