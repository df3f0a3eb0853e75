import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useCallback, useState } from "react";
import type { Bot } from "@/api/types";
import { buttonClass } from "@/ui/Button";
import { ErrorState } from "@/ui/ErrorState";
import { SkeletonRows } from "@/ui/Skeleton";
import { useShortcut } from "@/ui/shortcuts";
import { useWritingFocus } from "@/ui/useWritingFocus";
import { Composer } from "./Composer";
import { Messages } from "./Messages";
import { useConversation } from "./useConversation";
import { useTalk } from "./useTalk";
import { useWords } from "./useWords";
import { Welcome } from "./Welcome";
import { announcementOf, refusalOf } from "./words";

/** An existing or a new conversation. */
export function Conversation({ bot, sessionId }: { bot: Bot; sessionId: string | undefined }) {
  const { view, phase, error, reload } = useConversation(sessionId);
  const [editing, edit] = useState<string | null>(null);
  const { asked, onAsked } = useAsked(bot, sessionId, reload);
  const talk = useTalk({ slug: bot.slug, sessionId, onAsked, onChanged: reload });
  const refusal = refusalOf(bot);
  const isAnswering = view.session?.is_answering === true || view.draft !== null;
  const place = `${bot.id}.${sessionId ?? "new"}`;
  const words = useWords({ place, isAnswering, ask: talk.ask });
  const field = useWritingFocus(place);
  const isEmpty = sessionId === undefined || (phase === "ready" && view.messages.length === 0);
  const editLast = () => edit(view.messages.findLast(({ role }) => role === "user")?.id ?? null);
  useShortcut("escape", { label: "Stop the answer", group: "Chat", enabled: isAnswering }, talk.stop);

  return (
    <section aria-label="Conversation" className="flex min-h-0 min-w-0 flex-1 flex-col">
      <p role="status" className="sr-only">
        {view.ended && announcementOf(bot.identity.display_name, view.ended)}
      </p>
      {isEmpty && (
        <div className="flex min-h-0 flex-1 overflow-y-auto">
          <Welcome bot={bot} say={refusal ? null : words.say} />
        </div>
      )}
      {!isEmpty && phase === "failed" && (
        <div className="flex-1">
          <ErrorState error={error} retry={reload} />
        </div>
      )}
      {!isEmpty && phase === "loading" && (
        <div className="flex-1">
          <SkeletonRows rows={6} label="Loading conversation" />
        </div>
      )}
      {!isEmpty && phase === "ready" && (
        <Messages
          key={sessionId}
          bot={bot}
          view={view}
          talk={talk}
          mayAsk={!isAnswering && refusal === null}
          editing={editing}
          edit={edit}
          asked={asked}
        />
      )}
      {refusal ? (
        <Refused bot={bot} refusal={refusal} />
      ) : (
        <Composer
          name={bot.identity.display_name}
          words={words}
          isAnswering={isAnswering}
          isStopping={talk.isStopping}
          field={field}
          stop={talk.stop}
          editLast={editLast}
        />
      )}
    </section>
  );
}

/** The first question creates a conversation, so the page navigates to it; later ones reload in place. */
function useAsked(bot: Bot, sessionId: string | undefined, reload: () => void) {
  const [asked, setAsked] = useState(0);
  const navigate = useNavigate();
  const cache = useQueryClient();
  const onAsked = useCallback(
    (id: string) => {
      setAsked((times) => times + 1);
      void cache.invalidateQueries({ queryKey: ["bot", bot.slug, "sessions"] });
      if (id === sessionId) return reload();
      void navigate({
        to: "/bots/$slug/chat/{-$sessionId}",
        params: { slug: bot.slug, sessionId: id },
      });
    },
    [bot.slug, sessionId, reload, navigate, cache],
  );
  return { asked, onAsked };
}

type Refusal = NonNullable<ReturnType<typeof refusalOf>>;

function Refused({ bot, refusal: { reason, tab, label } }: { bot: Bot; refusal: Refusal }) {
  return (
    <div className="mx-auto w-full max-w-[760px] px-4 pb-3 max-sm:px-2">
      <div className="wash-wait flex flex-wrap items-center gap-x-3 gap-y-2 rounded-lg border px-3 py-2">
        <p className="min-w-0 flex-1 break-words">{reason}</p>
        <Link to={`/bots/$slug/${tab}`} params={{ slug: bot.slug }} className={buttonClass("plain")}>
          {label}
        </Link>
      </div>
    </div>
  );
}
