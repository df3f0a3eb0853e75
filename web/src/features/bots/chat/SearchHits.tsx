import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Fragment } from "react";
import { searchMessagesQuery } from "@/api/sessions";
import { ErrorState } from "@/ui/ErrorState";
import { SkeletonRows } from "@/ui/Skeleton";
import { Ago } from "@/ui/Time";

type Props = { slug: string; words: string; onChosen: () => void };

/** Messages that contain the words, in any conversation and branch. */
export function SearchHits({ slug, words, onChosen }: Props) {
  const { data: hits, error, refetch } = useQuery(searchMessagesQuery(slug, words));
  if (error) return <ErrorState error={error} retry={() => void refetch()} />;
  if (!hits) return <SkeletonRows rows={4} label="Searching" />;
  if (hits.length === 0)
    return <p className="px-3 py-2 break-words text-dim">No messages match “{words}”.</p>;
  return (
    <ul aria-label="Found messages" className="min-h-0 flex-1 space-y-0.5 overflow-y-auto px-2 pb-2">
      {hits.map((hit) => (
        <li key={hit.message_id}>
          <Link
            to="/bots/$slug/chat/{-$sessionId}"
            params={{ slug, sessionId: hit.session_id }}
            hash={hit.message_id}
            onClick={onChosen}
            className="block rounded-md px-2 py-1 hover:bg-raised"
          >
            <span className="flex items-baseline gap-2 text-xs text-dim">
              <span className="min-w-0 flex-1 truncate">{hit.session_title}</span>
              <Ago at={hit.created_at} className="shrink-0" />
            </span>
            <span className="line-clamp-3 break-words">
              <Excerpt text={hit.excerpt} />
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

/** The server marks matches with ⟦ and ⟧. */
function Excerpt({ text }: { text: string }) {
  return text.split(/⟦([^⟧]*)⟧/).map((piece, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one string never move
    <Fragment key={index}>
      {index % 2 === 1 ? <mark className="rounded-sm bg-wait/25 text-ink">{piece}</mark> : piece}
    </Fragment>
  ));
}
