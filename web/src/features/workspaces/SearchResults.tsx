import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { FoundLines } from "@/api/types";
import { searchQuery } from "@/api/workspaces";
import { count } from "@/ui/count";
import { ErrorState } from "@/ui/ErrorState";
import { SkeletonRows } from "@/ui/Skeleton";

/** Matching lines by file. */
export function SearchResults({ workspaceId, q }: { workspaceId: string; q: string }) {
  const found = useQuery(searchQuery(workspaceId, q));
  return (
    <section aria-label="Found" className="min-h-0 flex-1 overflow-auto" tabIndex={0}>
      {found.isPending && <SkeletonRows rows={5} label="Loading results" />}
      {found.isLoadingError && <ErrorState error={found.error} retry={found.refetch} />}
      {found.data && <Found found={found.data} q={q} workspaceId={workspaceId} />}
    </section>
  );
}

function Found({ found, q, workspaceId }: { found: FoundLines; q: string; workspaceId: string }) {
  const { matches, truncated, literal } = found;
  const files = [...new Set(matches.map(({ path }) => path))];
  return (
    <>
      <p role="status" className="px-3 py-2 text-xs text-dim">
        {matches.length === 0
          ? `No matches for “${q}”.`
          : `${truncated ? "First " : ""}${count(matches.length, "line")} in ${count(files.length, "file")}.`}
        {literal && " Not a valid regular expression, so it was searched as text."}
      </p>
      {files.map((path) => (
        <div key={path} className="pb-2">
          <h2 title={path} className="mono truncate px-3 text-dim">
            {path}
          </h2>
          <ul>
            {matches
              .filter((match) => match.path === path)
              .map(({ line, text }) => (
                <li key={line}>
                  <Link
                    to="/workspaces/$workspaceId"
                    params={{ workspaceId }}
                    search={(before) => ({ ...before, file: path, line })}
                    className="mono flex gap-3 px-3 leading-6 -outline-offset-2 hover:bg-raised/60"
                  >
                    <span className="w-8 shrink-0 text-right text-faint">{line}</span>
                    <span title={text.trim()} className="truncate">
                      {text.trim()}
                    </span>
                  </Link>
                </li>
              ))}
          </ul>
        </div>
      ))}
    </>
  );
}
