import type { Run } from "@/api/types";
import { Elapsed } from "../Time";
import { formatDuration } from "../time";

type Span = Pick<Run, "created_at" | "started_at" | "finished_at">;

/** The duration of a run so far; a dash if it never started. */
export function RunTime({ run }: { run: Span }) {
  const { started_at: startedAt, finished_at: finishedAt } = run;
  if (finishedAt) return formatDuration(Date.parse(finishedAt) - Date.parse(startedAt ?? run.created_at));
  return startedAt ? <Elapsed from={startedAt} /> : "–";
}
