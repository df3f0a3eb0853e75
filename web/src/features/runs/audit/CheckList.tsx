import { clsx } from "clsx";
import { ToneWord, VerdictWord } from "@/ui/audit/Verdict";
import { InlineText } from "@/ui/InlineText";
import { Panel } from "@/ui/Panel";
import type { CheckRow } from "./fold";

type Props = {
  rows: readonly CheckRow[];
  /** Shown while there are no checks. */
  instead: string;
  chosen: string | null;
  choose: (code: string | null) => void;
};

/** The checks as they finish. Selecting one filters the findings; selecting it again shows all. */
export function CheckList({ rows, instead, chosen, choose }: Props) {
  if (rows.length === 0) {
    return (
      <Panel title="Checks" className="min-h-0">
        <p className="p-3 text-dim">{instead}</p>
      </Panel>
    );
  }
  return (
    <Panel title="Checks" count={rows.length} className="min-h-0">
      <ul aria-label="Checks" className="divide-y divide-line overflow-auto">
        {rows.map((row) => (
          <li key={row.code}>
            <button
              type="button"
              aria-pressed={chosen === row.code}
              disabled={row.state !== "ended"}
              onClick={() => choose(chosen === row.code ? null : row.code)}
              className={clsx(
                "grid w-full grid-cols-[64px_minmax(0,1fr)_auto] items-baseline gap-x-2 px-3 py-1.5 text-left -outline-offset-2",
                chosen === row.code ? "bg-raised" : "enabled:hover:bg-raised/60",
              )}
            >
              <CheckLine row={row} />
            </button>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

const WAITING = {
  running: { tone: "run", word: "running" },
  queued: { tone: "idle", word: "queued" },
  left: { tone: "idle", word: "not run" },
} as const;

function CheckLine({ row }: { row: CheckRow }) {
  if (row.state !== "ended") {
    return (
      <>
        <ToneWord {...WAITING[row.state]} />
        <span className="mono text-dim">{row.code}</span>
      </>
    );
  }
  const { result, total } = row.check;
  return (
    <>
      <VerdictWord verdict={result.result} />
      <span className="min-w-0 truncate font-medium">
        <span className="mono mr-1.5 font-normal text-dim">{row.code}</span>
        {result.name}
      </span>
      <span className="mono text-dim">
        {total > 0 && (
          <>
            {total}
            <span className="sr-only"> findings</span>
          </>
        )}
      </span>
      <span title={result.detail} className="col-start-2 col-end-4 line-clamp-2 text-xs break-words text-dim">
        <InlineText text={result.detail} />
      </span>
    </>
  );
}
