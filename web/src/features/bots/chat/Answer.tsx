import { Play, RotateCw } from "lucide-react";
import { memo } from "react";
import type { Bot, ChatMessage } from "@/api/types";
import { Avatar } from "@/ui/Avatar";
import { Dot } from "@/ui/Badge";
import { Button, IconButton } from "@/ui/Button";
import { CopyButton } from "@/ui/CopyButton";
import { Markdown } from "@/ui/Markdown";
import { Refusal } from "@/ui/Refusal";
import { Elapsed, Remaining, useNow } from "@/ui/Time";
import { INK } from "@/ui/tone";
import { Branches } from "./Branches";
import { KeyLink } from "./KeyLink";
import { QUIET } from "./quiet";
import { Recalled } from "./Recalled";
import { isUsing, SkillsUsed } from "./SkillsUsed";
import type { Talk } from "./useTalk";
import { endOf, factsOf, tokensOf } from "./words";

type Props = {
  bot: Bot;
  message: ChatMessage;
  talk: Talk;
  /** The model's reasoning before the first text. */
  thinking: string;
  isLast: boolean;
  /** No answer is being written and the bot can be messaged. */
  mayAsk: boolean;
};

/** A bot's answer with its status, model and cost. */
export const Answer = memo(function Answer({ bot, message, talk, thinking, isLast, mayAsk }: Props) {
  const isWriting = message.status === "writing";
  const { answer } = message;
  return (
    <div className="grid grid-cols-[24px_minmax(0,1fr)] gap-x-3 max-sm:grid-cols-1">
      <span className="pt-0.5 max-sm:hidden">
        <Avatar of={bot.identity} size="sm" />
      </span>
      <div className="min-w-0 space-y-2">
        {answer && <Recalled memories={answer.recalled} slug={bot.slug} />}
        {answer && <SkillsUsed uses={answer.skills_used} isWriting={isWriting} />}
        {message.text && (
          <div className="text-base leading-[22px]">
            <Markdown text={message.text} isGrowing={isWriting} />
          </div>
        )}
        {isWriting && answer?.retry && <Retrying retry={answer.retry} />}
        {isWriting && !answer?.retry && !message.text && !isUsing(message) && (
          <Waiting since={message.created_at} thinking={thinking} />
        )}
        <Ending message={message} talk={talk} mayResume={isLast && mayAsk} />
        {!isWriting && (
          <div className="flex min-h-7 flex-wrap items-center gap-x-2">
            <Branches message={message} show={talk.show} />
            {answer && (
              <p className="mono text-[11px] text-faint" title={tokensOf(answer)}>
                {factsOf(answer)}
              </p>
            )}
            <span className={QUIET}>
              {message.text && <CopyButton text={message.text} label="Copy answer" iconOnly />}
              {mayAsk && !(isLast && message.status === "failed") && (
                <IconButton label="Try again" onClick={() => talk.retry(message.id)}>
                  <RotateCw size={13} aria-hidden />
                </IconButton>
              )}
            </span>
          </div>
        )}
      </div>
    </div>
  );
});

type Retry = NonNullable<NonNullable<ChatMessage["answer"]>["retry"]>;

/** Why the model did not answer, and the time until the next attempt. */
function Retrying({ retry: { problem, attempt, attempts, at } }: { retry: Retry }) {
  const isWaiting = useNow() < Date.parse(at);
  return (
    <div role="status" className="space-y-1">
      <p className="flex items-center gap-2 text-wait">
        <Dot tone="wait" />
        <span>
          {isWaiting ? (
            <>
              Retrying in <Remaining to={at} />
            </>
          ) : (
            "Retrying now"
          )}
        </span>
        <span className="text-faint">
          attempt {attempt} of {attempts}
        </span>
      </p>
      <p className="break-words text-dim">{problem.message}</p>
    </div>
  );
}

const SHOWN_THOUGHT = 300;

function Waiting({ since, thinking }: { since: string; thinking: string }) {
  const thought = thinking.trim();
  return (
    <div className="space-y-1">
      <p className="flex items-center gap-2 text-run">
        <Dot tone="run" /> {thought ? "Thinking" : "Waiting for the model"}
        <span className="mono text-faint">
          <Elapsed from={since} />
        </span>
      </p>
      {thought && <p className="line-clamp-3 text-dim italic">{thought.slice(-SHOWN_THOUGHT)}</p>}
    </div>
  );
}

/** How an incomplete answer ended, with a button to retry or resume. */
function Ending({ message, talk, mayResume }: { message: ChatMessage; talk: Talk; mayResume: boolean }) {
  const end = endOf(message);
  const resume = mayResume && message.status !== "failed" && (
    <Button onClick={talk.resume}>
      <Play size={12} aria-hidden /> Resume
    </Button>
  );
  if (message.status === "failed") {
    return (
      <Refusal error={message.error ?? { message: "No answer was received." }}>
        <KeyLink problem={message.error} />
        {mayResume && (
          <Button className="mt-2" onClick={() => talk.retry(message.id)}>
            <RotateCw size={12} aria-hidden /> Retry
          </Button>
        )}
      </Refusal>
    );
  }
  if (end === null) return null;
  return (
    <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
      <span className={`flex items-center gap-2 ${INK[end.tone]}`}>
        <Dot tone={end.tone} /> {end.word}
      </span>
      <span className="text-dim">{end.meaning}</span>
      {resume}
    </p>
  );
}
