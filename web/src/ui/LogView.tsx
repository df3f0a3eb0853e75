import { useVirtualizer } from "@tanstack/react-virtual";
import { clsx } from "clsx";
import { ArrowDownToLine } from "lucide-react";
import { useRef } from "react";
import { Button } from "./Button";
import { Kbd } from "./Kbd";
import { useShortcut } from "./shortcuts";
import { formatClock } from "./time";
import { INK, type Tone } from "./tone";
import { useFollow } from "./useFollow";

export type LogLine = { seq: number; at: string; source: string; text: string; tone: Tone | null };

const ROW_PX = 20;

type Props = {
  lines: readonly LogLine[];
  label: string;
  /** The width of the column that names the source. */
  sourceClass?: string;
};

/** A log of any length, virtualized. Follows the end until the reader scrolls. */
export function LogView({ lines, label, sourceClass = "w-16" }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
  });
  const { isFollowing, follow, gestures } = useFollow(box, rows.getTotalSize());
  useShortcut("end", { label: "Follow log", group: "Log" }, follow);
  useShortcut("l", { label: "Go to the log", group: "Log" }, () => box.current?.focus());

  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={box}
        role="log"
        aria-label={label}
        aria-live="off"
        tabIndex={0}
        className="mono h-full overflow-auto py-1 -outline-offset-2"
        {...gestures}
      >
        <div className="relative" style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map((row) => {
            const line = lines[row.index];
            return (
              line && (
                <div
                  key={row.key}
                  ref={rows.measureElement}
                  data-index={row.index}
                  style={{ transform: `translateY(${row.start}px)` }}
                  className="absolute inset-x-0"
                >
                  <Line line={line} sourceClass={sourceClass} />
                </div>
              )
            );
          })}
        </div>
      </div>
      {!isFollowing && (
        <Button className="absolute right-3 bottom-3 shadow-lg" onClick={follow}>
          <ArrowDownToLine size={13} aria-hidden /> Follow <Kbd keys="end" />
        </Button>
      )}
    </div>
  );
}

function Line({ line, sourceClass }: { line: LogLine; sourceClass: string }) {
  return (
    <div className="flex gap-3 px-3 leading-5 hover:bg-raised">
      <span className="w-10 shrink-0 text-right text-faint select-none max-sm:hidden">{line.seq}</span>
      <time dateTime={line.at} className="shrink-0 text-faint">
        {formatClock(line.at)}
      </time>
      <span className={clsx("shrink-0 truncate text-dim max-sm:hidden", sourceClass)}>{line.source}</span>
      <span className={clsx("min-w-0 break-words whitespace-pre-wrap", line.tone && INK[line.tone])}>
        {line.text}
      </span>
    </div>
  );
}
