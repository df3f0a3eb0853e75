import { useMemo, useState } from "react";
import { answerGate } from "@/api/gates";
import type { Event, Interjection, RunDetail } from "@/api/types";
import { useStream } from "@/api/useStream";
import { ErrorState } from "@/ui/ErrorState";
import { LogView } from "@/ui/LogView";
import { formatMicros } from "@/ui/money";
import { OpenGates } from "@/ui/run/OpenGates";
import { Failure } from "@/ui/run/Outcome";
import { Segmented } from "@/ui/Segmented";
import { SkeletonRows } from "@/ui/Skeleton";
import { foldRun, NOTHING_YET, type RunView } from "../fold";
import { RunFrame } from "../RunFrame";
import { ActivityLine } from "./ActivityLine";
import { activityOf } from "./activity";
import { Composer } from "./Composer";
import { type AgentView, foldAgent, SILENT } from "./fold";
import { Glance } from "./Glance";
import { givenOf } from "./given";
import { Transcript } from "./Transcript";

type View = { run: RunView; agent: AgentView };
const NOTHING: View = { run: NOTHING_YET, agent: SILENT };

const fold = (view: View, events: readonly Event[]): View => ({
  run: foldRun(view.run, events),
  agent: foldAgent(view.agent, events),
});

const SHOWN = [
  { value: "transcript", label: "Transcript" },
  { value: "log", label: "Log" },
] as const;

/** The page of an agent's run: questions, transcript, cost. */
export function AgentPage({ detail }: { detail: RunDetail }) {
  const stream = useStream(`run:${detail.run.id}`, fold, NOTHING);
  const { state: view, phase, error, retry } = stream;
  const [shown, setShown] = useState<(typeof SHOWN)[number]["value"]>("transcript");
  const [sent, setSent] = useState<readonly Interjection[]>([]);
  const given = useMemo(() => givenOf(detail), [detail]);
  const activity = phase === "ready" ? activityOf(view.run, view.agent) : null;

  return (
    <RunFrame run={detail.run} view={view.run}>
      <div className="flex min-h-full flex-col gap-3 p-3 max-sm:p-2 lg:h-full">
        <OpenGates gates={view.run.gates} answer={answerGate} />
        {view.run.error && <Failure error={view.run.error} />}
        {phase === "failed" && <ErrorState error={error} retry={retry} />}
        {!stream.isUnread && (
          <div className="grid min-h-0 flex-1 grid-cols-1 gap-3 lg:grid-cols-[minmax(0,1fr)_272px] lg:grid-rows-[minmax(320px,1fr)]">
            <section
              aria-label="Conversation"
              className="flex h-[calc(100dvh-60px)] min-h-80 flex-col rounded-lg border border-line bg-surface lg:h-auto"
            >
              <header className="flex h-10 shrink-0 items-center gap-3 border-b border-line px-2 pointer-coarse:h-12">
                <Segmented label="Show" value={shown} options={SHOWN} onChange={setShown} />
                <p className="mono ml-auto truncate pr-1 text-dim lg:hidden">
                  turn {view.agent.turn} · {formatMicros(view.agent.costMicros)}
                </p>
              </header>
              {phase === "loading" && <SkeletonRows rows={6} label="Loading transcript" />}
              {phase !== "loading" && shown === "transcript" && (
                <Transcript task={given.task} view={view.agent} sent={sent} />
              )}
              {shown === "log" && <LogView lines={view.run.log} label="Run log" />}
              {activity && <ActivityLine activity={activity} />}
              {activity && (
                <Composer runId={detail.run.id} onSent={(message) => setSent((all) => [...all, message])} />
              )}
            </section>
            <Glance view={view.agent} given={given} detail={detail} isLoading={phase === "loading"} />
          </div>
        )}
      </div>
    </RunFrame>
  );
}
