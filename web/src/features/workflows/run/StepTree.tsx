import { useVirtualizer } from "@tanstack/react-virtual";
import { clsx } from "clsx";
import { ChevronRight } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { Dot } from "@/ui/Badge";
import { count } from "@/ui/count";
import { Elapsed } from "@/ui/Time";
import { formatDuration } from "@/ui/time";
import { STEP_LOOKS, STEP_TONE } from "../canvas/steps";
import { isSettled, STEP_WORD } from "../words";
import type { IterationRow, Row, StepRow } from "./rows";

export type TreeProps = {
  rows: readonly Row[];
  selected: string | null;
  select: (id: string) => void;
  /** Toggle folding. */
  turn: (id: string) => void;
  /** Rendered instead of the duration. */
  lane?: (row: Row) => ReactNode;
};

const ROW_PX = 28;
const INDENT_PX = 14;

/** The steps of a run as a virtualized tree. Arrow keys move and fold, Enter selects; only steps can be selected. */
export function StepTree({ rows, selected, select, turn, lane }: TreeProps) {
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => rows[index]?.id ?? index,
    overscan: 12,
  });
  const [active, setActive] = useActive(selected);
  const at = rows.findIndex(({ id }) => id === active);
  const where = useRef(at);
  useEffect(() => {
    where.current = at;
  });
  const { scrollToIndex } = virtual;
  // biome-ignore lint/correctness/useExhaustiveDependencies(active): another row is the reason to scroll
  useEffect(() => {
    if (where.current >= 0) scrollToIndex(where.current);
  }, [active, scrollToIndex]);

  const onKeyDown = (event: KeyboardEvent) => {
    const row = rows[at];
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by !== undefined) move(by);
    else if (event.key === "Home") go(rows[0]);
    else if (event.key === "End") go(rows.at(-1));
    else if (event.key === "ArrowRight" && row?.fold && !row.fold.isOpen) turn(row.id);
    else if (event.key === "ArrowLeft" && row?.fold?.isOpen) turn(row.id);
    else if (event.key === "Enter" && row) choose(row);
    else return;
    event.preventDefault();
  };
  const move = (by: number) => go(rows[Math.min(rows.length - 1, Math.max(0, at + by))]);
  const go = (row: Row | undefined) => row && setActive(row.id);
  const choose = (row: Row) => {
    setActive(row.id);
    if (row.kind === "step") select(row.id);
    else turn(row.id);
  };

  return (
    <div
      ref={box}
      role="tree"
      aria-label="Steps"
      tabIndex={0}
      aria-activedescendant={at >= 0 ? `row-${at}` : undefined}
      onKeyDown={onKeyDown}
      className="group/tree min-h-0 flex-1 overflow-auto -outline-offset-2"
    >
      <div role="none" className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start, key }) => {
          const row = rows[index];
          return (
            row && (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the keys go to the tree, which owns its rows
              // biome-ignore lint/a11y/useFocusableInteractive: the tree has the focus and says which row is meant
              <div
                key={key}
                id={`row-${index}`}
                role="treeitem"
                aria-level={row.depth + 1}
                aria-selected={row.id === selected}
                aria-expanded={row.fold?.isOpen}
                aria-setsize={rows.length}
                aria-posinset={index + 1}
                onClick={() => choose(row)}
                style={{ height: ROW_PX, transform: `translateY(${start}px)` }}
                className={clsx(
                  "absolute inset-x-0 flex cursor-pointer items-center gap-1.5 pr-3 pl-1.5 hover:bg-raised/60",
                  row.id === selected && "bg-raised shadow-[inset_2px_0_0_var(--accent)]",
                  index === at && "-outline-offset-1 outline-accent group-focus-visible/tree:outline-1",
                )}
              >
                <span
                  className={clsx(
                    "flex min-w-0 items-center gap-1.5",
                    lane ? "w-56 shrink-0 max-sm:w-36" : "flex-1",
                  )}
                  style={{ paddingLeft: row.depth * INDENT_PX }}
                >
                  <Fold row={row} turn={turn} />
                  {row.kind === "step" ? <StepName row={row} /> : <IterationName row={row} />}
                </span>
                {lane ? lane(row) : <Took row={row} />}
              </div>
            )
          );
        })}
      </div>
      {rows.length === 0 && <p className="p-3 text-dim">No steps.</p>}
    </div>
  );
}

/** The active row: the selected one until a key moves on. */
function useActive(selected: string | null): [string | null, (id: string) => void] {
  const [now, setNow] = useState({ active: selected, selected });
  if (now.selected !== selected) setNow({ active: selected ?? now.active, selected });
  return [now.active, (active) => setNow({ active, selected })];
}

function Fold({ row, turn }: { row: Row; turn: (id: string) => void }) {
  if (!row.fold) return <span className="w-4 shrink-0" />;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a second way with the mouse; the row itself says that it unfolds
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keys go to the tree
    <span
      className="grid size-4 shrink-0 place-items-center text-faint hover:text-ink"
      onClick={(event) => {
        event.stopPropagation();
        turn(row.id);
      }}
    >
      <ChevronRight
        size={12}
        aria-hidden
        className={clsx("transition-transform", row.fold.isOpen && "rotate-90")}
      />
    </span>
  );
}

function StepName({ row: { title, type, step, fold } }: { row: StepRow }) {
  const { icon: Icon, word } = STEP_LOOKS[type];
  return (
    <>
      <Dot tone={step ? STEP_TONE[step.status] : "idle"} className={step ? "" : "border-dashed"} />
      <Icon size={13} aria-hidden className="shrink-0 text-faint" />
      <span className={clsx("truncate", step ? "" : "text-dim")} title={`${title} · ${word}`}>
        {title}
      </span>
      {fold && <span className="mono shrink-0 text-faint">×{fold.count}</span>}
      <span className="sr-only">{step ? STEP_WORD[step.status] : "not started"}</span>
    </>
  );
}

function IterationName({ row: { index, status, fold } }: { row: IterationRow }) {
  return (
    <>
      <Dot tone={STEP_TONE[status]} className="size-1.5" />
      <span className="truncate text-dim">
        Iteration {index + 1} <span className="text-xs text-faint">{count(fold.count, "step")}</span>
      </span>
      <span className="sr-only">{STEP_WORD[status]}</span>
    </>
  );
}

/** Completed steps only show their duration. */
function Took({ row }: { row: Row }) {
  if (row.kind === "iteration" || !row.step) return null;
  const { status, started_at: from, finished_at: to, is_kept } = row.step;
  const isQuiet = status === "completed" && !is_kept;
  return (
    <span className="mono shrink-0 text-faint">
      {is_kept ? "kept" : isQuiet || status === "running" ? "" : STEP_WORD[status]}{" "}
      {isSettled(status)
        ? from && to && status !== "skipped" && !is_kept && formatDuration(Date.parse(to) - Date.parse(from))
        : from && <Elapsed from={from} />}
    </span>
  );
}
