import { Activity, Play, SquareActivity } from "lucide-react";
import { allRuns, type RunPages, startSelfTest } from "@/api/runs";
import type { Area, AreaCommand, ShellActions } from "@/area";
import { runWord } from "@/ui/run/RunStatus";
import { formatAgo } from "@/ui/time";
import { toast } from "@/ui/toast";
import { runRoute, runsRoute } from "./routes";

const MAX_IN_PALETTE = 6;

export const runs = {
  label: "Runs",
  routes: [runsRoute, runRoute],
  nav: { to: "/runs", icon: Activity, key: "r" },
  commands: (shell) => [selfTest(shell), ...recentRuns(shell)],
} satisfies Area;

function selfTest({ go }: ShellActions): AreaCommand {
  return {
    id: "self-test",
    label: "Run the self-test",
    keywords: "start new check",
    icon: Play,
    run: () => {
      startSelfTest().then((run) => go(`/runs/${run.id}`), toast.error);
    },
  };
}

/** Only runs that are already cached: the palette makes no requests. */
function recentRuns({ go, queries }: ShellActions): AreaCommand[] {
  const lists = queries.getQueriesData<RunPages>({ queryKey: ["runs"] });
  const known = new Map(
    lists.flatMap(([, pages]) => (pages ? allRuns(pages) : [])).map((run) => [run.id, run]),
  );
  return [...known.values()]
    .sort((a, b) => b.created_at.localeCompare(a.created_at))
    .slice(0, MAX_IN_PALETTE)
    .map((run) => ({
      id: run.id,
      label: run.title,
      detail: `${runWord(run.status, run.outcome)}, ${formatAgo(run.created_at, Date.now())}`,
      keywords: `${run.kind} ${run.status} ${run.id}`,
      group: "Recent runs",
      icon: SquareActivity,
      run: () => go(`/runs/${run.id}`),
    }));
}
