import { Hammer } from "lucide-react";
import { type ReactNode, useRef } from "react";
import type { Interview } from "@/api/types";
import { useFollow } from "@/ui/useFollow";
import type { Review } from "../review/useReview";
import type { Talk } from "../session/useTalk";
import { FreeText } from "../turn/FreeText";
import { takesWords } from "../turn/words";
import { phaseName } from "../words";
import { LastTurn } from "./LastTurn";

type Props = {
  session: Interview;
  growing: string;
  talk: Talk;
  review: Review;
  setUp: () => void;
  /** Edit the result field by field. */
  edit: () => void;
};

/** The interview as a chat. */
export function Chat(props: Props) {
  const { session, talk } = props;
  const box = useRef<HTMLElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const { gestures } = useFollow(box, session.revision);
  const isOff = session.due !== null || !session.turn || !takesWords(session.turn);
  return (
    <div className="flex h-full flex-col">
      <section
        ref={box}
        aria-label="Conversation"
        tabIndex={0}
        {...gestures}
        className="min-h-0 flex-1 overflow-y-auto -outline-offset-2"
      >
        <div className="mx-auto max-w-[760px] space-y-4 p-4 max-sm:p-3">
          {session.initial_description && <Mine>{session.initial_description}</Mine>}
          {session.lines.map((line, index) => (
            <div key={line.number} className="space-y-4">
              <Forge
                badge={
                  line.phase !== session.lines[index - 1]?.phase ? phaseName(session.mode, line.phase) : null
                }
              >
                <p className="break-words whitespace-pre-wrap">{line.question}</p>
              </Forge>
              <Mine>{line.answer}</Mine>
            </div>
          ))}
          <Forge
            badge={
              session.lines.at(-1)?.phase !== session.phase ? phaseName(session.mode, session.phase) : null
            }
          >
            <LastTurn {...props} field={field} />
          </Forge>
        </div>
      </section>
      <div className="mx-auto w-full max-w-[760px] shrink-0 px-4 pt-1 pb-3 max-sm:px-2">
        <FreeText
          key={session.revision}
          field={field}
          label="Answer Forge"
          placeholder={placeholderOf(session, isOff)}
          isBusy={talk.isSending}
          isOff={isOff}
          send={talk.say}
        />
      </div>
    </div>
  );
}

function placeholderOf({ due, turn }: Interview, isOff: boolean): string {
  if (due) return "Forge is working…";
  if (isOff) return "Choose one of the answers above.";
  return turn?.action.startsWith("ready") ? "Or say what to change…" : "Answer in your own words…";
}

function Forge({ badge, children }: { badge: string | null; children: ReactNode }) {
  return (
    <article aria-label="Forge" className="flex gap-2.5">
      <span
        aria-hidden
        className="grid size-7 shrink-0 place-items-center rounded-md border border-line bg-raised text-accent"
      >
        <Hammer size={14} strokeWidth={1.75} />
      </span>
      <div className="min-w-0 flex-1 space-y-2 pt-1 text-base">
        {badge && (
          <p className="w-fit rounded-full border border-line bg-raised px-2 text-xs leading-5 text-dim">
            {badge}
          </p>
        )}
        {children}
      </div>
    </article>
  );
}

function Mine({ children }: { children: ReactNode }) {
  return (
    <article aria-label="You" className="flex justify-end">
      <p className="min-w-0 max-w-[85%] rounded-lg border border-line bg-raised/70 px-3 py-2 text-base break-words whitespace-pre-wrap">
        {children}
      </p>
    </article>
  );
}
