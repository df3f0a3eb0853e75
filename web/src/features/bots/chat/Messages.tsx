import { ArrowDownToLine } from "lucide-react";
import { type ReactNode, useRef, useState } from "react";
import type { Bot, ChatMessage } from "@/api/types";
import { Button } from "@/ui/Button";
import { count } from "@/ui/count";
import { Kbd } from "@/ui/Kbd";
import { useShortcut } from "@/ui/shortcuts";
import { useFollow } from "@/ui/useFollow";
import { useRowKeys } from "@/ui/useRowKeys";
import { Answer } from "./Answer";
import type { ChatView } from "./fold";
import { Question } from "./Question";
import { SummaryMark } from "./SummaryMark";
import { useJump } from "./useJump";
import type { Talk } from "./useTalk";

/** Initially only the end of a long conversation is rendered. */
const SHOWN_AT_FIRST = 60;

type Props = {
  bot: Bot;
  view: ChatView;
  talk: Talk;
  mayAsk: boolean;
  editing: string | null;
  edit: (messageId: string | null) => void;
  /** Incremented with each question to scroll to the end. */
  asked: number;
};

/** The messages of the shown branch. Follows the end until the reader scrolls. */
export function Messages({ bot, view, talk, mayAsk, editing, edit, asked }: Props) {
  const { messages, session, draft } = view;
  const box = useRef<HTMLElement>(null);
  const [shown, setShown] = useState(SHOWN_AT_FIRST);
  const { isFollowing, follow, hold, gestures } = useFollow(box, asked);
  const target = useJump({ box, messages, show: talk.show, hold });
  useRowKeys(box);
  useShortcut("end", { label: "Jump to the latest", group: "Chat" }, follow);
  const [lastAsked, setLastAsked] = useState(asked);
  if (asked !== lastAsked) {
    setLastAsked(asked);
    follow();
  }
  const wanted = messages.findIndex(({ id }) => id === target);
  const first = Math.max(0, Math.min(messages.length - shown, wanted < 0 ? Infinity : wanted));
  const summary = session?.summary ?? null;

  const draw = (message: ChatMessage): ReactNode =>
    message.role === "user" ? (
      <Question
        message={message}
        talk={talk}
        isEditing={editing === message.id}
        edit={edit}
        mayEdit={mayAsk}
      />
    ) : (
      <Answer
        bot={bot}
        message={message}
        talk={talk}
        thinking={draft?.id === message.id ? draft.thinking : ""}
        isLast={message === messages.at(-1)}
        mayAsk={mayAsk}
      />
    );
  return (
    <div className="relative min-h-0 flex-1">
      <section
        ref={box}
        role="log"
        aria-label="Messages"
        aria-live="off"
        tabIndex={0}
        className="h-full overflow-x-hidden overflow-y-auto -outline-offset-2"
        {...gestures}
      >
        <div className="mx-auto flex w-full max-w-[760px] flex-col gap-4 px-4 py-4 max-sm:px-2">
          {first > 0 && (
            <Button look="ghost" className="self-center" onClick={() => setShown(shown + SHOWN_AT_FIRST)}>
              Show earlier messages ({first})
            </Button>
          )}
          {messages.slice(first).map((message) => (
            <div key={message.id} className="contents">
              <article
                data-row
                data-id={message.id}
                data-last={message === messages.at(-1)}
                tabIndex={-1}
                aria-label={message.role === "user" ? "You" : bot.identity.display_name}
                onFocus={(event) => {
                  if (event.target === event.currentTarget && message !== messages.at(-1)) hold();
                }}
                className={`group/message rounded-lg ${message.id === target ? "bg-wait/10 outline-8 outline-wait/10" : ""}`}
              >
                {draw(message)}
              </article>
              {summary?.upto_id === message.id && <SummaryMark summary={summary} />}
            </div>
          ))}
          <Kept view={view} />
        </div>
      </section>
      {!isFollowing && (
        <Button className="absolute right-4 bottom-3 shadow-lg" onClick={follow}>
          <ArrowDownToLine size={13} aria-hidden /> Jump to latest <Kbd keys="end" />
        </Button>
      )}
    </div>
  );
}

/** Facts that the bot memorized while the page was open. */
function Kept({ view: { kept } }: { view: ChatView }) {
  if (kept.length === 0) return null;
  return (
    <details className="text-xs text-dim">
      <summary className="w-fit cursor-pointer rounded-sm hover:text-ink">
        {count(kept.length, "fact")} remembered
      </summary>
      <ul className="mt-1 list-disc space-y-0.5 pl-5 marker:text-faint">
        {kept.map(({ id, fact }) => (
          <li key={id} className="break-words">
            {fact}
          </li>
        ))}
      </ul>
    </details>
  );
}
