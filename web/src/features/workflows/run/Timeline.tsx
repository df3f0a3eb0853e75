import { clsx } from "clsx";
import { useNow } from "@/ui/Time";
import { formatDuration } from "@/ui/time";
import { FILL } from "@/ui/tone";
import { STEP_TONE } from "../canvas/steps";
import { isSettled } from "../words";
import type { RunView, Stretch } from "./fold";
import type { Row } from "./rows";
import { StepTree, type TreeProps } from "./StepTree";

type Props = Omit<TreeProps, "lane"> & { view: RunView };
type Span = { from: number; to: number };

/** Minimum width, so that very short spans stay visible. */
const THINNEST_PERCENT = 0.4;
const TICKS = [0, 0.25, 0.5, 0.75, 1];

/** A Gantt chart: solid bars for work, hatched ones for waiting, one bar per attempt. */
export function Timeline({ view, ...tree }: Props) {
  const now = useNow();
  const from = Date.parse(view.startedAt ?? "") || now;
  const to = Math.max(from + 1, view.finishedAt ? Date.parse(view.finishedAt) : now);
  return (
    <>
      <div aria-hidden className="flex h-6 shrink-0 items-center border-b border-line pr-3 pl-3 text-faint">
        <span className="w-56 shrink-0 max-sm:w-36" />
        <span className="mono relative h-full flex-1">
          {TICKS.map((share) => (
            <span
              key={share}
              className="absolute top-1 first:translate-x-0 -translate-x-1/2 whitespace-nowrap text-[10.5px] last:-translate-x-full"
              style={{ left: `${share * 100}%` }}
            >
              {formatDuration((to - from) * share)}
            </span>
          ))}
        </span>
      </div>
      <StepTree {...tree} lane={(row) => <Lane row={row} view={view} span={{ from, to }} />} />
    </>
  );
}

function Lane({ row, view, span }: { row: Row; view: RunView; span: Span }) {
  const stretches = row.kind === "step" ? timesOf(row, view) : wholeOf(row.id, view);
  const status = row.kind === "step" ? row.step?.status : row.status;
  const tone = status ? STEP_TONE[status] : "idle";
  return (
    <span className="relative h-full min-w-0 flex-1 border-l border-line">
      {stretches.toSorted(waitsFirst).map((one) => (
        <span
          key={`${one.from} ${one.is} ${one.attempt}`}
          title={`${one.is === "work" ? (row.kind === "step" ? `Attempt ${one.attempt}` : "Duration") : "Waiting"}: ${lengthOf(one, span)}`}
          className={clsx(
            "absolute top-2 bottom-2 rounded-[2px]",
            one.is === "wait" ? "hatched" : one.to === null ? "bg-run" : FILL[tone],
          )}
          style={place(one, span)}
        />
      ))}
    </span>
  );
}

/** A step known only from the list of steps has one bar. */
function timesOf(row: Extract<Row, { kind: "step" }>, view: RunView): readonly Stretch[] {
  const told = view.times.get(row.id);
  if (told) return told;
  const { step } = row;
  if (!step?.started_at || step.is_kept || step.status === "skipped") return [];
  return [{ is: "work", attempt: step.attempt, from: step.started_at, to: step.finished_at ?? null }];
}

/** An iteration spans from its first step to its last. */
function wholeOf(id: string, view: RunView): readonly Stretch[] {
  const inside = [...view.steps.values()].filter(({ key }) => key.startsWith(`${id}/`));
  const from = inside.flatMap(({ started_at }) => started_at ?? []).sort()[0];
  if (from === undefined) return [];
  const isOver = inside.every(({ status }) => isSettled(status));
  const to = inside.flatMap(({ finished_at }) => finished_at ?? []).sort();
  return [{ is: "work", attempt: 1, from, to: isOver ? (to.at(-1) ?? null) : null }];
}

/** Work is drawn over waiting, because it may be very short. */
const waitsFirst = (a: Stretch, b: Stretch): number => Number(a.is === "work") - Number(b.is === "work");

const endOf = ({ to }: Stretch, span: Span): number => (to ? Date.parse(to) : span.to);
const lengthOf = (one: Stretch, span: Span): string =>
  formatDuration(endOf(one, span) - Date.parse(one.from));

function place(one: Stretch, { from, to }: Span): { left: string; width: string } {
  const whole = to - from;
  const start = Date.parse(one.from);
  const left = Math.min(100 - THINNEST_PERCENT, Math.max(0, ((start - from) / whole) * 100));
  const length = ((endOf(one, { from, to }) - start) / whole) * 100;
  return { left: `${left}%`, width: `${Math.min(100 - left, Math.max(THINNEST_PERCENT, length))}%` };
}
