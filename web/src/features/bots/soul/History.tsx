import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import type { BotFile, FileVersion } from "@/api/types";
import { versionsQuery } from "@/api/versions";
import { ErrorState } from "@/ui/ErrorState";
import { LoadMore } from "@/ui/LoadMore";
import { Panel } from "@/ui/Panel";
import { SkeletonRows } from "@/ui/Skeleton";
import { Ago } from "@/ui/Time";
import { placeOf } from "./place";

type Props = { slug: string; file: BotFile; selected: number | undefined };

/** All versions of a file, newest first. */
export function History({ slug, file, selected }: Props) {
  const query = useInfiniteQuery(versionsQuery(slug, file));
  const versions = query.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Panel title="History" className="shrink-0 lg:w-72">
      <div className="min-h-0 flex-1 overflow-auto max-lg:max-h-72">
        {query.isPending && <SkeletonRows rows={4} label="Loading history" />}
        {query.isLoadingError && <ErrorState error={query.error} retry={query.refetch} />}
        <ol aria-label="Versions" className="divide-y divide-line">
          {versions.map((version) => (
            <li key={version.number}>
              <Version slug={slug} file={file} version={version} isSelected={version.number === selected} />
            </li>
          ))}
        </ol>
        <LoadMore of={query} />
      </div>
    </Panel>
  );
}

type VersionProps = { slug: string; file: BotFile; version: FileVersion; isSelected: boolean };

function Version({ slug, file, version, isSelected }: VersionProps) {
  const { number, author, message, created_at, hash } = version;
  return (
    <Link
      to="/bots/$slug/soul"
      params={{ slug }}
      search={{ ...placeOf(file), version: number }}
      aria-current={isSelected ? "true" : undefined}
      activeProps={{}}
      className={clsx(
        "block px-3 py-1.5 -outline-offset-2 hover:bg-raised/60",
        isSelected && "bg-raised shadow-[inset_2px_0_0_var(--accent)]",
      )}
    >
      <span className="flex items-baseline gap-2">
        <span className="mono font-semibold">v{number}</span>
        <span className="min-w-0 truncate">{author}</span>
        <Ago at={created_at} className="mono ml-auto shrink-0 text-faint" />
      </span>
      <span className="flex items-baseline gap-2 text-dim">
        <span className="min-w-0 flex-1 truncate" title={message}>
          {message || "no message"}
        </span>
        <span className="mono shrink-0 text-faint" title={hash}>
          {hash.slice(0, 8)}
        </span>
      </span>
    </Link>
  );
}
