import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { Bot as BotIcon, Plus, Workflow } from "lucide-react";
import { useState } from "react";
import { sessionsQuery } from "@/api/sessions";
import type { Bot, ChatSession } from "@/api/types";
import { Dot } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { ErrorState } from "@/ui/ErrorState";
import { Kbd } from "@/ui/Kbd";
import { LoadMore } from "@/ui/LoadMore";
import { SearchField } from "@/ui/SearchField";
import { SkeletonRows } from "@/ui/Skeleton";
import { Ago } from "@/ui/Time";
import { useQuiet } from "@/ui/useQuiet";
import { SearchHits } from "./SearchHits";
import { SessionMenu } from "./SessionMenu";

/** Delay before a search starts while typing. */
const SETTLE_MS = 200;

type Props = { bot: Bot; sessionId: string | undefined; begin: () => void; onChosen: () => void };

/** The conversations with a bot, latest first, or the messages that match the search. */
export function SessionList({ bot, sessionId, begin, onChosen }: Props) {
  const [typed, setTyped] = useState("");
  const settled = useQuiet(typed.trim(), SETTLE_MS);
  // Clearing the field shows the conversations immediately.
  const words = typed.trim() && settled;
  return (
    <>
      <div className="flex shrink-0 items-center gap-1 p-2">
        <SearchField
          label="Search conversations"
          group="Chat"
          placeholder="Search"
          className="min-w-0 flex-1"
          value={typed}
          onChange={setTyped}
        />
        <Button onClick={begin} className="px-2">
          <Plus size={14} aria-hidden />
          <span>
            New<span className="sr-only"> conversation</span>
          </span>
          <Kbd keys="c" />
        </Button>
      </div>
      {words ? (
        <SearchHits slug={bot.slug} words={words} onChosen={onChosen} />
      ) : (
        <Sessions bot={bot} sessionId={sessionId} onChosen={onChosen} />
      )}
    </>
  );
}

function Sessions({ bot, sessionId, onChosen }: Omit<Props, "begin">) {
  const query = useInfiniteQuery(sessionsQuery(bot.slug));
  if (query.isPending) return <SkeletonRows rows={4} label="Loading conversations" />;
  if (query.isLoadingError) return <ErrorState error={query.error} retry={query.refetch} />;
  const sessions = query.data.pages.flatMap(({ items }) => items);
  if (sessions.length === 0) return <p className="px-3 py-2 text-dim">No conversations yet.</p>;
  return (
    <ul aria-label="Conversations" className="min-h-0 flex-1 overflow-y-auto px-2 pb-2">
      {sessions.map((session) => (
        <Row
          key={session.id}
          bot={bot}
          session={session}
          isOpen={session.id === sessionId}
          onChosen={onChosen}
        />
      ))}
      {query.hasNextPage && (
        <li>
          <LoadMore of={query} />
        </li>
      )}
    </ul>
  );
}

type RowProps = { bot: Bot; session: ChatSession; isOpen: boolean; onChosen: () => void };

function Row({ bot, session, isOpen, onChosen }: RowProps) {
  return (
    <li
      className={clsx(
        "group/row relative flex items-center rounded-md hover:bg-raised focus-within:bg-raised",
        isOpen && "bg-raised",
      )}
    >
      <Link
        to="/bots/$slug/chat/{-$sessionId}"
        params={{ slug: bot.slug, sessionId: session.id }}
        aria-current={isOpen ? "page" : undefined}
        onClick={onChosen}
        className="min-w-0 flex-1 rounded-md py-1 pr-1 pl-2 pointer-coarse:py-2"
      >
        <span className={clsx("block truncate", isOpen && "font-medium")}>{session.title}</span>
        <span className="flex items-center gap-1.5 text-xs text-dim">
          {session.is_answering ? (
            <span className="flex items-center gap-1.5 text-run">
              <Dot tone="run" className="size-1.5" /> answering
            </span>
          ) : (
            <Ago at={session.updated_at} className="shrink-0" />
          )}
          {session.origin && <BegunBy origin={session.origin} />}
        </span>
      </Link>
      <SessionMenu slug={bot.slug} session={session} isOpen={isOpen} />
    </li>
  );
}

/** The workflow or bot that started the conversation. */
function BegunBy({ origin }: { origin: NonNullable<ChatSession["origin"]> }) {
  const [Icon, name] = origin.type === "bot" ? [BotIcon, origin.name] : [Workflow, origin.workflow];
  return (
    <span className="flex min-w-0 items-center gap-1" title={`Started by the ${origin.type} ${name}`}>
      <Icon size={12} aria-hidden className="shrink-0" />
      <span className="truncate">{name}</span>
    </span>
  );
}
