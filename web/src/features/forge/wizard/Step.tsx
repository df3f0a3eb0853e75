import { ArrowLeft, ArrowRight } from "lucide-react";
import { type KeyboardEvent, useRef } from "react";
import type { Interview, InterviewTurn } from "@/api/types";
import { Button } from "@/ui/Button";
import { Kbd } from "@/ui/Kbd";
import { Refusal } from "@/ui/Refusal";
import { useShortcut } from "@/ui/shortcuts";
import { PreviewCard } from "../preview/PreviewCard";
import type { Talk } from "../session/useTalk";
import { choiceOf } from "../turn/choosing";
import { FreeText } from "../turn/FreeText";
import { Options } from "../turn/Options";
import { useTurnFocus } from "../turn/useTurnFocus";
import { questionOf, takesWords } from "../turn/words";

type Props = { session: Interview; turn: InterviewTurn; talk: Talk; setUp: () => void };

/** One turn: the question and its answers. */
export function Step({ session, turn, talk, setUp }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  const mayGoBack = session.lines.length > 0 && !talk.isSending;
  useTurnFocus(session.revision, heading);
  useShortcut("b", { label: "Back", group: "Answers", enabled: mayGoBack }, () => talk.back());
  const begin = (event: KeyboardEvent) => {
    if (event.key === "Enter" && turn.action === "show_preview") return talk.confirm(true);
    if (event.key !== "ArrowDown") return;
    event.currentTarget.parentElement?.querySelector<HTMLElement>("ol button")?.focus();
    event.preventDefault();
  };
  return (
    <div className="space-y-4">
      <h2
        ref={heading}
        tabIndex={-1}
        onKeyDown={begin}
        className="text-xl font-semibold break-words whitespace-pre-wrap outline-none"
      >
        {questionOf(turn)}
      </h2>
      {turn.action === "ask_question" && (
        <Options options={turn.options} choose={choiceOf(turn, talk, setUp)} isBusy={talk.isSending} />
      )}
      {turn.action === "show_preview" && <PreviewCard session={session} preview={turn.preview} />}
      {takesWords(turn) && turn.action !== "show_preview" && (
        <FreeText
          label="Your answer"
          placeholder={turn.action === "clarify" ? "Your answer…" : "Or in your own words…"}
          isBusy={talk.isSending}
          send={talk.say}
        />
      )}
      <Refusal error={talk.problem} />
      <div className="flex items-center gap-2">
        <Button look="ghost" disabled={!mayGoBack} onClick={() => talk.back()}>
          <ArrowLeft size={13} aria-hidden /> Back <Kbd keys="b" />
        </Button>
        {turn.action === "show_preview" && (
          <Button
            look="primary"
            className="ml-auto"
            disabled={talk.isSending}
            onClick={() => talk.confirm(true)}
          >
            Continue <ArrowRight size={13} aria-hidden /> <Kbd keys="enter" />
          </Button>
        )}
      </div>
    </div>
  );
}
