import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { filesQuery, type Wanted } from "@/api/builder";
import type { FileChange, Interview } from "@/api/types";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { Code } from "@/ui/Code";
import { compare } from "@/ui/compare";
import { Diff } from "@/ui/Diff";
import { ErrorState } from "@/ui/ErrorState";
import { Segmented } from "@/ui/Segmented";
import { Select } from "@/ui/Select";
import { SkeletonRows } from "@/ui/Skeleton";
import type { Review } from "../review/useReview";

type Props = { session: Interview; shown: Wanted; review: Review };

/** The files that would be written, or that were written. */
export function Files({ session, shown, review }: Props) {
  const files = useQuery(filesQuery(session.session_id, shown));
  const isOutdated = !session.made && JSON.stringify(shown) !== JSON.stringify(review.wanted);
  return (
    <div className="space-y-2">
      {isOutdated && (
        <div className="wash-wait flex items-center gap-2 rounded-md border py-1 pr-1 pl-2.5">
          <p className="min-w-0 flex-1">These files do not include your last change.</p>
          <Button onClick={() => review.showFiles(true)}>Refresh</Button>
        </div>
      )}
      {files.isPending && <SkeletonRows rows={6} label="Loading files" />}
      {files.isError && <ErrorState error={files.error} retry={files.refetch} />}
      {files.data?.length === 0 && <p className="py-2 text-dim">No changes.</p>}
      {files.data && files.data.length > 0 && <Tabs files={files.data} />}
    </div>
  );
}

/** More files than this are chosen from a list. */
const MAX_SIDE_BY_SIDE = 4;

function Tabs({ files }: { files: readonly FileChange[] }) {
  const [path, setPath] = useState("");
  const file = files.find((one) => one.path === path) ?? files[0];
  if (!file) return null;
  const isFew = files.length <= MAX_SIDE_BY_SIDE;
  const options = files.map((one) => ({ value: one.path, label: isFew ? lastOf(one.path) : one.path }));
  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        {isFew ? (
          <Segmented label="File" value={file.path} options={options} onChange={setPath} />
        ) : (
          <Select label="File" value={file.path} options={options} onChange={setPath} />
        )}
        <Badge tone={file.before === file.content ? "idle" : "ok"}>{stateOf(file)}</Badge>
      </div>
      <p className="mono truncate text-xs text-dim" title={file.path}>
        {file.path}
      </p>
      <Content file={file} />
    </>
  );
}

function Content({ file: { path, before = null, content } }: { file: FileChange }) {
  if (before === null || before === content)
    return <Code isWrapped text={content} language={languageOf(path)} />;
  return <Diff diff={compare(before, content, { left: "current", right: "new" })} />;
}

function stateOf({ before = null, content }: FileChange): string {
  if (before === null) return "new";
  return before === content ? "unchanged" : "changed";
}

const lastOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
const languageOf = (path: string): string => path.slice(path.lastIndexOf(".") + 1);
