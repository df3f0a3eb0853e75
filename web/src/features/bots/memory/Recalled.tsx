import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { recallQuery } from "@/api/memories";
import type { MemoryMatch } from "@/api/types";
import { EmptyState } from "@/ui/EmptyState";
import { ErrorState } from "@/ui/ErrorState";
import { Panel } from "@/ui/Panel";
import { SkeletonRows } from "@/ui/Skeleton";
import { MemoryRow } from "./MemoryRow";

/** The memories that would be sent with a question, best match first. */
export function Recalled({ slug, q }: { slug: string; q: string }) {
  const found = useQuery({ ...recallQuery(slug, q), placeholderData: keepPreviousData });
  if (found.isPending) return <SkeletonRows rows={4} label="Loading matches" />;
  if (found.isLoadingError) return <ErrorState error={found.error} retry={found.refetch} />;
  if (found.data.length === 0) {
    return (
      <EmptyState title="No matches" sentence="Only pinned memories would be sent with this question." />
    );
  }
  return (
    <Panel title="What it would recall" count={found.data.length}>
      <ul aria-label="What it would recall" className="divide-y divide-line">
        {found.data.map((match) => (
          <li key={match.memory.id}>
            <MemoryRow slug={slug} memory={match.memory} found={<Score match={match} />} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Score({ match: { score, by } }: { match: MemoryMatch }) {
  return (
    <span className="text-ink">
      <span className="mono">{score < 0.01 ? "< 0.01" : score.toFixed(2)}</span> by {by}
    </span>
  );
}
