import { ArrowLeft, ArrowRight, Check, FileText, Pencil } from "lucide-react";
import { type RefObject, useRef } from "react";
import type { Interview, InterviewTurn } from "@/api/types";
import { Button } from "@/ui/Button";
import { Refusal } from "@/ui/Refusal";
import { PreviewCard } from "../preview/PreviewCard";
import { Trial } from "../review/Trial";
import type { Review } from "../review/useReview";
import { createWord } from "../review/words";
import type { Talk } from "../session/useTalk";
import { choiceOf } from "../turn/choosing";
import { Options } from "../turn/Options";
import { Thinking } from "../turn/Thinking";
import { useTurnFocus } from "../turn/useTurnFocus";
import { questionOf } from "../turn/words";

type Props = {
  session: Interview;
  growing: string;
  talk: Talk;
  review: Review;
  setUp: () => void;
  edit: () => void;
  field: RefObject<HTMLTextAreaElement | null>;
};

/** The current turn, with its buttons. */
export function LastTurn(props: Props) {
  const { session, growing, talk } = props;
  if (session.due) return <Thinking session={session} growing={growing} cancel={talk.cancel} />;
  return session.turn && <Waiting key={session.revision} {...props} turn={session.turn} />;
}

function Waiting({ session, turn, talk, review, setUp, edit, field }: Props & { turn: InterviewTurn }) {
  const question = useRef<HTMLHeadingElement>(null);
  const isWritten = turn.action === "clarify" && window.matchMedia("(pointer: fine)").matches;
  useTurnFocus(session.revision, isWritten ? field : question);
  const isReady = turn.action === "ready_to_assemble" || turn.action === "ready_to_create_skill";
  const back = session.lines.length > 0 && (
    <Button look="ghost" disabled={talk.isSending} onClick={() => talk.back()}>
      <ArrowLeft size={13} aria-hidden /> Back
    </Button>
  );
  return (
    <div className="space-y-3">
      <h2 ref={question} tabIndex={-1} className="font-medium break-words whitespace-pre-wrap outline-none">
        {questionOf(turn)}
      </h2>
      {turn.action === "ask_question" && (
        <Options
          isCompact
          options={turn.options}
          choose={choiceOf(turn, talk, setUp)}
          isBusy={talk.isSending}
        />
      )}
      {turn.action === "show_preview" && <PreviewCard session={session} preview={turn.preview} />}
      {isReady && (
        // On wide screens the preview is already shown beside the chat.
        <div className="lg:hidden">
          <PreviewCard session={session} preview={session.preview} />
        </div>
      )}
      {isReady && session.trial && <Trial report={session.trial} />}
      <Refusal error={talk.problem ?? review.error} />
      <div className="flex flex-wrap items-center gap-2">
        {back}
        {turn.action === "show_preview" && (
          <Button look="primary" disabled={talk.isSending} onClick={() => talk.confirm(true)}>
            Continue <ArrowRight size={13} aria-hidden />
          </Button>
        )}
        {isReady && (
          <>
            <Button onClick={edit}>
              <Pencil size={13} aria-hidden /> Review and edit
            </Button>
            <Button aria-pressed={review.shown !== null} onClick={() => review.showFiles(true)}>
              <FileText size={13} aria-hidden /> Show files
            </Button>
            <Button look="primary" disabled={review.isCreating} onClick={review.create}>
              <Check size={13} aria-hidden /> {createWord(session, review.isCreating)}
            </Button>
          </>
        )}
      </div>
    </div>
  );
}
