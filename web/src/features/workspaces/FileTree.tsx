import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { ChevronRight, CornerUpRight, File, FileQuestion, Folder } from "lucide-react";
import { useState } from "react";
import type { FileEntry } from "@/api/types";
import { filesQuery } from "@/api/workspaces";
import { ErrorState } from "@/ui/ErrorState";
import { toProblem } from "@/ui/problem";
import { Skeleton } from "@/ui/Skeleton";
import { parentsOf } from "./place";

const ICON = { file: File, dir: Folder, link: CornerUpRight, other: FileQuestion } as const;
const STEP_PX = 14;

type Shared = { workspaceId: string; file: string | undefined };

/** The files of a workspace. Directories are loaded when opened. */
export function FileTree({ workspaceId, file }: Shared) {
  return (
    <div className="min-h-0 flex-1 overflow-auto py-1">
      <Directory workspaceId={workspaceId} file={file} path="." depth={0} />
    </div>
  );
}

function Directory({ path, depth, ...shared }: Shared & { path: string; depth: number }) {
  const entries = useQuery(filesQuery(shared.workspaceId, path));
  const indent = { paddingLeft: 12 + depth * STEP_PX };
  if (entries.isPending) {
    return (
      <div role="status" aria-label="Loading directory" style={indent} className="appear-late py-2 pr-3">
        <Skeleton className="w-2/3" />
      </div>
    );
  }
  if (entries.isLoadingError && depth === 0) {
    return <ErrorState error={entries.error} retry={entries.refetch} />;
  }
  if (entries.isLoadingError) {
    return (
      <p role="alert" style={indent} className="py-1 pr-3 text-bad">
        {toProblem(entries.error).message}
      </p>
    );
  }
  if (entries.data.length === 0) {
    return (
      <p style={indent} className="py-1 pr-3 text-faint">
        {depth === 0 ? "Empty directory." : "empty"}
      </p>
    );
  }
  return (
    <ul aria-label={depth === 0 ? "Files" : path}>
      {sorted(entries.data).map((entry) => (
        <li key={entry.path}>
          {entry.kind === "dir" ? (
            <OpenableDirectory entry={entry} depth={depth} {...shared} />
          ) : (
            <Leaf entry={entry} depth={depth} {...shared} />
          )}
        </li>
      ))}
    </ul>
  );
}

/** Directories first. */
const sorted = (entries: readonly FileEntry[]): FileEntry[] =>
  entries.toSorted(
    (a, b) => Number(b.kind === "dir") - Number(a.kind === "dir") || a.name.localeCompare(b.name),
  );

const ROW =
  "flex h-7 w-full items-center gap-1.5 pr-3 text-left -outline-offset-2 hover:bg-raised/60 pointer-coarse:h-9";

type EntryProps = Shared & { entry: FileEntry; depth: number };

function OpenableDirectory({ entry, depth, ...shared }: EntryProps) {
  const leadsToFile = shared.file !== undefined && parentsOf(shared.file).includes(entry.path);
  const [isOpen, setOpen] = useState(leadsToFile);
  const [shownFile, setShownFile] = useState(shared.file);
  if (shownFile !== shared.file) {
    setShownFile(shared.file);
    if (leadsToFile) setOpen(true);
  }
  return (
    <>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        style={{ paddingLeft: 8 + depth * STEP_PX }}
        className={ROW}
      >
        <ChevronRight
          size={13}
          aria-hidden
          className={clsx("shrink-0 text-faint transition-transform", isOpen && "rotate-90")}
        />
        <Folder size={14} strokeWidth={1.75} aria-hidden className="shrink-0 text-dim" />
        <span className="truncate">{entry.name}</span>
      </button>
      {isOpen && <Directory path={entry.path} depth={depth + 1} {...shared} />}
    </>
  );
}

function Leaf({ entry, depth, workspaceId, file }: EntryProps) {
  const Icon = ICON[entry.kind];
  return (
    <Link
      to="/workspaces/$workspaceId"
      params={{ workspaceId }}
      search={(before) => ({ ...before, file: entry.path, line: undefined })}
      aria-current={file === entry.path ? "page" : undefined}
      style={{ paddingLeft: 27 + depth * STEP_PX }}
      className={clsx(ROW, file === entry.path ? "bg-raised text-ink" : "text-dim hover:text-ink")}
    >
      <Icon size={14} strokeWidth={1.75} aria-hidden className="shrink-0 text-faint" />
      <span className="truncate">{entry.name}</span>
    </Link>
  );
}
