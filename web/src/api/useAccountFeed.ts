import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { refreshBot } from "./bots";
import { draftsQuery } from "./builder";
import { openGatesQuery, withGate } from "./gates";
import { useLive } from "./liveContext";
import { refreshMessages } from "./messages";
import { type RunFilter, type RunPages, runQuery, withChild, withRun } from "./runs";
import { refreshRuns, refreshSkill } from "./skills";
import type { Event, Gate, Run, RunDetail } from "./types";
import { Underway } from "./underway";
import { refreshWorkflow, refreshWorkflowRuns, WORKFLOW } from "./workflows";

/**
 * Keeps lists up to date: changes of runs and gates are written into the query cache, and changed bots, skills,
 * workflows and drafts are refetched. Mounted once, by the shell. `onGateOpened` is called for each new question.
 */
export function useAccountFeed(accountId: string | undefined, onGateOpened: (gate: Gate) => void): void {
  const live = useLive();
  const cache = useQueryClient();

  useEffect(() => {
    if (accountId === undefined) return;
    const reads = new Underway(cache);
    let due: number | undefined;
    const readRunsSoon = () => {
      due ??= window.setTimeout(() => {
        due = undefined;
        refreshWorkflowRuns(cache);
      }, SOON_MS);
    };
    const leave = live.subscribe(`account:${accountId}`, "now", {
      onEvents: (events) => {
        for (const event of events) applyToCache(cache, reads, event, onGateOpened);
        if (events.some(isOfWorkflow)) readRunsSoon();
      },
      // Lists may have been fetched before the subscription started: refetch them once. From then on the stream is complete.
      onSubscribed: (isFromNow) => {
        if (isFromNow) for (const queryKey of READ_EARLY) reads.readAgain(queryKey);
      },
    });
    return () => {
      window.clearTimeout(due);
      leave();
    };
  }, [live, cache, accountId, onGateOpened]);
}

/** Runs of workflows change often; the lists that contain them are refetched at most this often. */
const SOON_MS = 400;
const isOfWorkflow = (event: Event): boolean =>
  event.type === "run.changed" && event.data.run.kind === WORKFLOW;

/** Queries that a page may have fetched before the subscription started. */
const READ_EARLY = [
  ["runs"],
  ["run"],
  ["gates"],
  ["bots"],
  ["bot"],
  ["interviews"],
  ["skills"],
  ["skill"],
  ["workflows"],
  ["workflow"],
  ["workflow-run"],
];

function applyToCache(
  cache: QueryClient,
  reads: Underway,
  event: Event,
  onGateOpened: (gate: Gate) => void,
): void {
  if (event.type === "run.changed") {
    putRun(cache, reads, event.data.run);
  } else if (event.type === "gate.changed") {
    const { gate } = event.data;
    reads.put<Gate[]>(openGatesQuery.queryKey, (gates) => withGate(gates, gate));
    if (gate.status === "open") onGateOpened(gate);
  } else if (event.type === "bot.changed") {
    refreshBot(cache, event.data);
  } else if (event.type === "interviews.changed") {
    void cache.invalidateQueries({ queryKey: draftsQuery.queryKey });
  } else if (event.type === "skill.changed") {
    refreshSkill(cache, event.data);
  } else if (event.type === "skill.invoked") {
    refreshRuns(cache, event.data.skill);
  } else if (event.type === "workflow.changed") {
    refreshWorkflow(cache, event.data);
  } else if (event.type === "message.sent" || event.type === "message.answered") {
    refreshMessages(cache);
  }
}

function putRun(cache: QueryClient, reads: Underway, run: Run): void {
  for (const query of cache.getQueryCache().findAll({ queryKey: ["runs"] })) {
    const filter = query.queryKey[1] as RunFilter;
    reads.put<RunPages>(query.queryKey, (pages) => withRun(pages, filter, run));
  }
  reads.put<RunDetail>(runQuery(run.id).queryKey, (detail) => ({ ...detail, run }));
  if (run.parent_id) {
    reads.put<RunDetail>(runQuery(run.parent_id).queryKey, (detail) => withChild(detail, run));
  }
}
