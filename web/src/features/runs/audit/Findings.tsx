import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef, useState } from "react";
import type { Finding } from "@/api/types";
import { useShortcut } from "@/ui/shortcuts";
import { FindingView } from "./FindingView";
import { firstToSayWhy } from "./filter";

const ROW_PX = 132;

/** Findings, however many: only those that can be seen are in the page. */
export function Findings({ findings }: { findings: readonly Finding[] }) {
  const box = useRef<HTMLDivElement>(null);
  const [current, setCurrent] = useState(-1);
  const saying = useMemo(() => firstToSayWhy(findings), [findings]);
  const rows = useVirtualizer({
    count: findings.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => keyOf(findings[index], index),
    overscan: 6,
  });
  const move = (by: 1 | -1) => {
    const next = Math.min(findings.length - 1, Math.max(0, current + by));
    setCurrent(next);
    rows.scrollToIndex(next, { align: "auto" });
  };
  useShortcut("j", { label: "Next finding", group: "Audit" }, () => move(1));
  useShortcut("k", { label: "Previous finding", group: "Audit" }, () => move(-1));

  return (
    <div
      ref={box}
      role="feed"
      aria-label="Findings"
      tabIndex={0}
      className="min-h-0 flex-1 overflow-x-hidden overflow-y-auto -outline-offset-2"
    >
      <div className="relative" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, key, start }) => {
          const finding = findings[index];
          return (
            finding && (
              <div
                key={key}
                ref={rows.measureElement}
                data-index={index}
                style={{ transform: `translateY(${start}px)` }}
                className="absolute inset-x-0 focus-within:z-10 hover:z-10"
              >
                <FindingView
                  finding={finding}
                  saysWhy={saying.has(finding)}
                  at={index}
                  of={findings.length}
                  isCurrent={index === current}
                />
              </div>
            )
          );
        })}
      </div>
    </div>
  );
}

const keyOf = (finding: Finding | undefined, index: number): string =>
  finding ? `${finding.check} ${finding.fingerprint}` : String(index);
