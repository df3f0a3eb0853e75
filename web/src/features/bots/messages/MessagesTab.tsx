import { useInfiniteQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { botQuery } from "@/api/bots";
import { messagesQuery } from "@/api/messages";
import { EmptyState } from "@/ui/EmptyState";
import { ErrorState } from "@/ui/ErrorState";
import { LoadMore } from "@/ui/LoadMore";
import { Select } from "@/ui/Select";
import { SkeletonRows } from "@/ui/Skeleton";
import { Channels } from "./Channels";
import { Send } from "./Send";
import { Thread } from "./Thread";
import { othersOf, threadsOf } from "./words";

const route = getRouteApi("/shell/bots/$slug/messages");

/** Messages to and from a bot: with people, other bots, workflows and channels. */
export function MessagesTab() {
  const { slug } = route.useParams();
  const name = useSuspenseQuery(botQuery(slug)).data.identity.display_name;
  const [other, setOther] = useState<string | null>(null);
  const query = useInfiniteQuery(messagesQuery(slug, other));
  const everything =
    useInfiniteQuery(messagesQuery(slug, null)).data?.pages.flatMap(({ items }) => items) ?? [];
  const found = query.data?.pages.flatMap(({ items }) => items) ?? [];
  const others = othersOf(everything, slug);
  return (
    <div className="mx-auto grid max-w-[1160px] gap-3 p-4 max-sm:p-2 lg:grid-cols-[minmax(0,1fr)_260px]">
      <div className="min-w-0 space-y-3">
        <Send slug={slug} name={name} />
        {others.length > 0 && (
          <Select
            label="Conversation with"
            value={other ?? ""}
            options={[
              { value: "", label: "All conversations" },
              ...others.map((one) => ({ value: one, label: `With ${one}` })),
            ]}
            onChange={(value) => setOther(value || null)}
          />
        )}
        {query.isPending && <SkeletonRows rows={5} label="Loading messages" />}
        {query.isLoadingError && <ErrorState error={query.error} retry={query.refetch} />}
        {query.data && found.length === 0 && (
          <EmptyState
            title="No messages yet"
            sentence="Messages between bots, workflows and you. Each message is handled in the bot's own chat, and the reply appears here."
            example={
              <>
                or from a terminal: <code className="mono">forge message send --to {slug} "Hello"</code>
              </>
            }
          />
        )}
        <ul aria-label="Messages" className="space-y-3">
          {threadsOf(found).map((thread) => (
            <li key={thread.id}>
              <Thread slug={slug} messages={thread.messages} />
            </li>
          ))}
        </ul>
        <LoadMore of={query} />
      </div>
      <Channels slug={slug} />
    </div>
  );
}
