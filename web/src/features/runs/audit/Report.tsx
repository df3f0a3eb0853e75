import { type ReactNode, useDeferredValue, useMemo } from "react";
import { EmptyState } from "@/ui/EmptyState";
import { InlineText } from "@/ui/InlineText";
import type { RunView } from "../fold";
import { FindingFilter } from "./FindingFilter";
import { Findings } from "./Findings";
import { type Filter, findingsOf, fitting } from "./filter";
import type { AuditView, CheckRow } from "./fold";
import { doing, ending } from "./words";

type Props = {
  rows: readonly CheckRow[];
  view: { run: RunView; audit: AuditView };
  isOver: boolean;
  filter: Filter;
  change: (changed: Partial<Filter>) => void;
  isHidden: boolean;
  choice: ReactNode;
};

/** The findings that match the filter, or why there are none. */
export function Report({ rows, view, isOver, filter, change, isHidden, choice }: Props) {
  const words = useDeferredValue(filter.words);
  const all = useMemo(() => findingsOf(rows, filter.check), [rows, filter.check]);
  const shown = useMemo(
    () => fitting(all, { check: filter.check, severity: filter.severity, words }),
    [all, filter.check, filter.severity, words],
  );
  const codes = rows.map(({ code }) => code);
  const chosen = rows.find(({ code }) => code === filter.check);
  return (
    <>
      <header className="flex min-h-10 shrink-0 flex-wrap items-center gap-2 border-b border-line p-1.5">
        {choice}
        {!isHidden && <FindingFilter filter={filter} codes={codes} change={change} />}
        <p role="status" className="mono ml-auto pr-1 text-dim">
          {isHidden ? "" : said(shown.length, all.length)}
        </p>
      </header>
      {!isHidden && shown.length > 0 && <Findings key={keyOf(filter)} findings={shown} />}
      {!isHidden && shown.length === 0 && (
        <Nothing chosen={chosen} hasSome={all.length > 0} isOver={isOver} view={view} />
      )}
      {!isHidden && <Missing rows={rows} />}
    </>
  );
}

const keyOf = ({ check, severity }: Filter): string => `${check} ${severity}`;

const said = (shown: number, all: number): string => (shown === all ? `${all}` : `${shown} of ${all}`);

type NothingProps = { chosen: CheckRow | undefined; hasSome: boolean } & Pick<Props, "isOver" | "view">;

function Nothing({ chosen, hasSome, isOver, view }: NothingProps) {
  if (hasSome)
    return <EmptyState title="No findings match" sentence="Shorten the filter or choose another check." />;
  if (chosen?.state === "ended") {
    const { code, name, result, detail } = chosen.check.result;
    return <EmptyState title={`${code} ${name}: ${result}`} sentence={<InlineText text={detail} />} />;
  }
  if (!isOver) return <EmptyState {...doing(view)} />;
  return <EmptyState {...ending(view.audit)} />;
}

/** The server limits the number of findings it sends. */
function Missing({ rows }: { rows: readonly CheckRow[] }) {
  const cut = rows.flatMap((row) =>
    row.state === "ended" && row.check.total > row.check.findings.length ? [row.check] : [],
  );
  if (cut.length === 0) return null;
  const words = cut.map(({ result, total, findings }) => `${total - findings.length} more of ${result.code}`);
  return <p className="border-t border-line px-3 py-1.5 text-xs text-dim">Not shown: {words.join(", ")}.</p>;
}
