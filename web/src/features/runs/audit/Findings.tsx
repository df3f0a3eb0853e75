import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef } from "react";
import type { Finding } from "@/api/types";
import { useShortcut } from "@/ui/shortcuts";
import { FindingView } from "./FindingView";
import { firstToSayWhy } from "./filter";

const ROW_PX = 132;

/** The findings, virtualized. */
export function Findings({ findings }: { findings: readonly Finding[] }) {
  const box = useRef<HTMLDivElement>(null);
  const current = useRef<Finding | undefined>(undefined);
  const isDue = useRef(false);
  const saying = useMemo(() => firstToSayWhy(findings), [findings]);
  const rows = useVirtualizer({
    count: findings.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => keyOf(findings[index], index),
    overscan: 6,
  });
  const at = () => (current.current ? findings.indexOf(current.current) : -1);
  const move = (by: 1 | -1) => {
    const next = Math.min(findings.length - 1, Math.max(0, at() + by));
    current.current = findings[next];
    isDue.current = true;
    rows.scrollToIndex(next, { align: "auto" });
    focus();
  };
  /** Focus only after a move by key; a row scrolled into view is rendered a little later. */
  const focus = () => {
    const row = box.current?.querySelector(`[data-index="${at()}"]`);
    if (!isDue.current || !row) return;
    isDue.current = false;
    row.querySelector<HTMLElement>("article")?.focus({ preventScroll: true });
  };
  useEffect(focus);
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
