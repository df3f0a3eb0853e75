import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDownToLine } from "lucide-react";
import { type ReactNode, useRef } from "react";
import type { Interjection } from "@/api/types";
import { Button } from "@/ui/Button";
import { Kbd } from "@/ui/Kbd";
import { useShortcut } from "@/ui/shortcuts";
import { useFollow } from "@/ui/useFollow";
import type { AgentView } from "./fold";
import { OpenedContext, useOpenedSet } from "./opened";
import { PieceView, Said } from "./Pieces";
import { DraftTurn } from "./Turn";

const ROW_PX = 96;

type Row = { key: string; draw: () => ReactNode };

/** The transcript, virtualized. Follows the end until the reader scrolls. */
export function Transcript({
  task,
  view,
  sent,
}: {
  task: string;
  view: AgentView;
  sent: readonly Interjection[];
}) {
  const box = useRef<HTMLDivElement>(null);
  const rows = rowsOf(task, view, sent);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: 6,
  });
  const { isFollowing, follow, hold, gestures } = useFollow(box, virtual.getTotalSize());
  const opened = useOpenedSet(hold);
  useShortcut("end", { label: "Jump to the latest", group: "Run" }, follow);

  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={box}
        role="log"
        aria-label="Transcript"
        aria-live="off"
        tabIndex={0}
        className="h-full overflow-x-hidden overflow-y-auto py-1 -outline-offset-2 [overflow-anchor:none]"
        {...gestures}
      >
        <OpenedContext value={opened}>
          <div className="relative" style={{ height: virtual.getTotalSize() }}>
            {virtual.getVirtualItems().map((item) => (
              <div
                key={item.key}
                ref={virtual.measureElement}
                data-index={item.index}
                style={{ transform: `translateY(${item.start}px)` }}
                className="absolute inset-x-0"
              >
                {rows[item.index]?.draw()}
              </div>
            ))}
          </div>
        </OpenedContext>
      </div>
      {!isFollowing && (
        <Button className="absolute right-3 bottom-3 shadow-lg" onClick={follow}>
          <ArrowDownToLine size={13} aria-hidden /> Jump to latest <Kbd keys="end" />
        </Button>
      )}
    </div>
  );
}

function rowsOf(task: string, view: AgentView, sent: readonly Interjection[]): Row[] {
  const { pieces, draft, hasEnded, heard } = view;
  const rows: Row[] = pieces.map((piece) => ({
    key: piece.key,
    draw: () => <PieceView piece={piece} isOver={hasEnded} />,
  }));
  if (task) rows.unshift({ key: "task", draw: () => <Said by="Task" text={task} /> });
  if (draft) rows.push({ key: "draft", draw: () => <DraftTurn draft={draft} /> });
  const unheard = sent.filter(({ id }) => !heard.has(id));
  const note = hasEnded ? "not delivered: the agent ended first" : "delivered before the next turn";
  return rows.concat(
    unheard.map(({ id, sent_by, text }) => ({
      key: id,
      draw: () => <Said by={sent_by} note={note} text={text} />,
    })),
  );
}
