import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { Bot as BotIcon, Plus, Search, Workflow, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { sessionsQuery } from "@/api/sessions";
import type { Bot, ChatSession } from "@/api/types";
import { Dot } from "@/ui/Badge";
import { Button, IconButton } from "@/ui/Button";
import { ErrorState } from "@/ui/ErrorState";
import { Kbd } from "@/ui/Kbd";
import { SkeletonRows } from "@/ui/Skeleton";
import { useShortcut } from "@/ui/shortcuts";
import { Ago } from "@/ui/Time";
import { SearchHits } from "./SearchHits";
import { SessionMenu } from "./SessionMenu";

type Props = { bot: Bot; sessionId: string | undefined; begin: () => void; onChosen: () => void };

/** The conversations with a bot, the latest first; or the messages that have the words somebody looks for. */
export function SessionList({ bot, sessionId, begin, onChosen }: Props) {
  const [typed, setTyped] = useState("");
  const words = useSettled(typed.trim());
  return (
    <>
      <div className="flex shrink-0 items-center gap-1 p-2">
        <SearchField value={typed} onChange={setTyped} />
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

function SearchField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const field = useRef<HTMLInputElement>(null);
  useShortcut("/", { label: "Search the conversations", group: "Chat" }, () => field.current?.focus());
  return (
    <div className="relative min-w-0 flex-1">
      <Search size={13} aria-hidden className="absolute top-1/2 left-2 -translate-y-1/2 text-faint" />
      <input
        ref={field}
        type="search"
        aria-label="Search the conversations"
        placeholder="Search"
        maxLength={200}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => event.key === "Escape" && onChange("")}
        className="h-7 w-full rounded-md border border-line bg-bg pr-6 pl-7 text-sm placeholder:text-faint pointer-coarse:h-9 [&::-webkit-search-cancel-button]:hidden"
      />
      {value && (
        <IconButton
          label="Clear the search"
          className="absolute! top-1/2 right-0.5 size-6 -translate-y-1/2"
          onClick={() => {
            onChange("");
            field.current?.focus();
          }}
        >
          <X size={12} aria-hidden />
        </IconButton>
      )}
    </div>
  );
}

function Sessions({ bot, sessionId, onChosen }: Omit<Props, "begin">) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    sessionsQuery(bot.slug),
  );
  if (error && !data) return <ErrorState error={error} retry={() => void refetch()} />;
  if (!data) return <SkeletonRows rows={4} label="Loading the conversations" />;
  const sessions = data.pages.flatMap(({ items }) => items);
  if (sessions.length === 0) return <p className="px-3 py-2 text-dim">No conversation yet.</p>;
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
      {hasNextPage && (
        <li className="pt-1 text-center">
          <Button look="ghost" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Show more
          </Button>
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
            <Ago at={session.updated_at} />
          )}
          {session.origin && <BegunBy origin={session.origin} />}
        </span>
      </Link>
      <SessionMenu slug={bot.slug} session={session} isOpen={isOpen} />
    </li>
  );
}

/** Nobody sat in front of it: a workflow or another bot asked. */
function BegunBy({ origin }: { origin: NonNullable<ChatSession["origin"]> }) {
  const [Icon, name] = origin.type === "bot" ? [BotIcon, origin.name] : [Workflow, origin.workflow];
  return (
    <span className="flex min-w-0 items-center gap-1" title={`Begun by the ${origin.type} ${name}`}>
      <Icon size={12} aria-hidden className="shrink-0" />
      <span className="truncate">{name}</span>
    </span>
  );
}

const SETTLE_MS = 200;

/** What somebody types, once they pause; nothing at once. */
function useSettled(words: string): string {
  const [settled, setSettled] = useState(words);
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(words), words ? SETTLE_MS : 0);
    return () => window.clearTimeout(timer);
  }, [words]);
  return words && settled;
}
