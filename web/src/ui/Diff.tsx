import { clsx } from "clsx";
import type { ReactNode } from "react";
import type { DiffRow, FileDiff } from "@/api/types";
import { differing } from "./differing";
import { useMedia } from "./useMedia";

const SIDE_BY_SIDE = "(min-width: 700px)";

/** A diff, side by side on wide screens and unified on narrow ones. */
export function Diff({ diff, className }: { diff: FileDiff; className?: string }) {
  const isWide = useMedia(SIDE_BY_SIDE);
  return (
    <section
      aria-label={`${diff.left} and ${diff.right}`}
      tabIndex={0}
      className={clsx("overflow-auto rounded-md border border-line bg-bg -outline-offset-2", className)}
    >
      <header className="sticky top-0 z-10 flex border-b border-line bg-raised text-xs text-dim">
        <span className="w-1/2 truncate px-3 py-1">{diff.left}</span>
        <span className="flex w-1/2 gap-2 px-3 py-1">
          <span className="min-w-0 flex-1 truncate">{diff.right}</span>
          <span className="mono shrink-0 text-ok">
            +{diff.added} <span className="sr-only">lines added</span>
          </span>
          <span className="mono shrink-0 text-bad">
            −{diff.removed} <span className="sr-only">lines removed</span>
          </span>
        </span>
      </header>
      <table className="mono w-full [font-variant-ligatures:none] table-fixed border-collapse leading-5">
        <caption className="sr-only">{`Changes from ${diff.left} to ${diff.right}`}</caption>
        {isWide ? <WideColumns /> : <NarrowColumns />}
        <tbody>
          {diff.rows.map((row, index) => {
            const Row = isWide ? WideRow : NarrowRow;
            // biome-ignore lint/suspicious/noArrayIndexKey: rows of one comparison never move
            return <Row key={index} row={row} />;
          })}
        </tbody>
      </table>
      {diff.rows.length === 0 && <p className="px-3 py-2 text-dim">No differences.</p>}
      {diff.is_cut && <p className="border-t border-line px-3 py-2 text-dim">Some lines are not shown.</p>}
    </section>
  );
}

const WideColumns = () => (
  <colgroup>
    <col className="w-10" />
    <col />
    <col className="w-10" />
    <col />
  </colgroup>
);

const NarrowColumns = () => (
  <colgroup>
    <col className="w-10" />
    <col />
  </colgroup>
);

const GONE = "bg-bad/12";
const NEW = "bg-ok/12";

function WideRow({ row }: { row: DiffRow }) {
  if (row.kind === "skipped") return <Skipped row={row} columns={4} />;
  const hasLeft = row.kind === "changed" || row.kind === "removed";
  const hasRight = row.kind === "changed" || row.kind === "added";
  return (
    <tr>
      <LineNumber of={row.left_line} look={hasLeft ? GONE : ""} />
      <Line look={hasLeft ? GONE : row.kind === "added" ? "bg-raised/50" : ""} sign={hasLeft ? "−" : ""}>
        <Side row={row} side="left" />
      </Line>
      <LineNumber of={row.right_line} look={clsx("border-l border-line", hasRight && NEW)} />
      <Line look={hasRight ? NEW : row.kind === "removed" ? "bg-raised/50" : ""} sign={hasRight ? "+" : ""}>
        <Side row={row} side="right" />
      </Line>
    </tr>
  );
}

function NarrowRow({ row }: { row: DiffRow }) {
  if (row.kind === "skipped") return <Skipped row={row} columns={2} />;
  const isGone = row.kind === "changed" || row.kind === "removed";
  const isNew = row.kind === "changed" || row.kind === "added";
  return (
    <>
      {isGone && (
        <tr className={GONE}>
          <LineNumber of={row.left_line} look="" />
          <Line look="" sign="−">
            <Side row={row} side="left" />
          </Line>
        </tr>
      )}
      {!(isGone && !isNew) && (
        <tr className={isNew ? NEW : ""}>
          <LineNumber of={row.right_line} look="" />
          <Line look="" sign={isNew ? "+" : ""}>
            <Side row={row} side="right" />
          </Line>
        </tr>
      )}
    </>
  );
}

function Skipped({ row, columns }: { row: DiffRow; columns: number }) {
  return (
    <tr className="border-y border-line bg-raised/60 text-center text-dim">
      <td colSpan={columns} className="py-0.5">
        {row.left} equal {row.left === "1" ? "line" : "lines"}
      </td>
    </tr>
  );
}

function LineNumber({ of: number, look }: { of: number | null | undefined; look: string }) {
  return <td className={clsx("px-2 text-right align-top text-dim select-none", look)}>{number ?? ""}</td>;
}

const SAID = { "−": "removed: ", "+": "added: ", "": "" };

function Line({ look, sign, children }: { look: string; sign: keyof typeof SAID; children: ReactNode }) {
  return (
    <td className={clsx("relative pr-2 pl-5 align-top break-words whitespace-pre-wrap", look)}>
      <span aria-hidden className="absolute left-1.5 text-dim select-none">
        {sign}
      </span>
      {sign && <span className="sr-only">{SAID[sign]}</span>}
      {children}
    </td>
  );
}

/** Highlights the differing part of a changed line. */
function Side({ row, side }: { row: DiffRow; side: "left" | "right" }) {
  if (row.kind !== "changed") return row[side];
  const parts = differing(row.left, row.right);
  return (
    <>
      {parts.before}
      <span className={side === "left" ? "rounded-xs bg-bad/25" : "rounded-xs bg-ok/25"}>{parts[side]}</span>
      {parts.after}
    </>
  );
}
