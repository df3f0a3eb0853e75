import { useQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { clsx } from "clsx";
import { useEffect, useMemo, useRef } from "react";
import type { FileText } from "@/api/types";
import { fileQuery } from "@/api/workspaces";
import { formatBytes } from "@/ui/bytes";
import { CopyButton } from "@/ui/CopyButton";
import { ErrorState } from "@/ui/ErrorState";
import { SkeletonRows } from "@/ui/Skeleton";

type Props = { workspaceId: string; path: string; line: number | undefined };

/** A text file with line numbers, possibly truncated by the server. */
export function FileView({ workspaceId, path, line }: Props) {
  const file = useQuery(fileQuery(workspaceId, path));
  return (
    <>
      <header className="flex h-9 shrink-0 items-center gap-2 border-b border-line px-3">
        <h2 title={path} className="mono min-w-0 truncate">
          {path}
        </h2>
        <span className="mono ml-auto shrink-0 text-faint">{file.data && formatBytes(file.data.size)}</span>
        {file.data && !file.data.is_binary && <CopyButton text={file.data.text} label="Copy text" iconOnly />}
      </header>
      {file.isPending && <SkeletonRows rows={8} label="Loading file" />}
      {file.isLoadingError && <ErrorState error={file.error} retry={file.refetch} />}
      {file.data && <Content file={file.data} line={line} />}
    </>
  );
}

function Content({ file, line }: { file: FileText; line: number | undefined }) {
  if (file.is_binary) return <p className="p-4 text-dim">This file is not text.</p>;
  if (file.size === 0) return <p className="p-4 text-dim">This file is empty.</p>;
  return (
    <>
      {file.is_cut && (
        <p role="note" className="wash-wait border-b px-3 py-1 text-xs">
          Only the first {formatBytes(new Blob([file.text]).size)} of {formatBytes(file.size)} are shown.
        </p>
      )}
      <Lines text={file.text} path={file.path} marked={line} />
    </>
  );
}

const ROW_PX = 20;

/** The lines, virtualized and wrapped. */
function Lines({ text, path, marked }: { text: string; path: string; marked: number | undefined }) {
  const box = useRef<HTMLDivElement>(null);
  const lines = useMemo(() => text.replace(/\n$/, "").split("\n"), [text]);
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    overscan: 20,
  });
  useEffect(() => {
    if (marked !== undefined) rows.scrollToIndex(marked - 1, { align: "center" });
  }, [marked, rows]);
  const width = `${String(lines.length).length + 1}ch`;
  return (
    <section
      ref={box}
      aria-label={path}
      tabIndex={0}
      className="mono min-h-0 flex-1 overflow-auto py-1 leading-5 -outline-offset-2"
    >
      <div className="relative" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, start, key }) => (
          <div
            key={key}
            ref={rows.measureElement}
            data-index={index}
            style={{ transform: `translateY(${start}px)` }}
            className={clsx("absolute inset-x-0 flex gap-4 px-3", marked === index + 1 && "bg-accent/12")}
          >
            <span aria-hidden className="shrink-0 text-right text-faint select-none" style={{ width }}>
              {index + 1}
            </span>
            <span className="min-h-5 min-w-0 break-words whitespace-pre-wrap">{lines[index]}</span>
          </div>
        ))}
      </div>
    </section>
  );
}
