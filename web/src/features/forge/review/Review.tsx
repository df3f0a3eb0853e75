import { Check, FileText } from "lucide-react";
import { type FormEvent, type KeyboardEvent, useRef } from "react";
import type { BuilderConfig, Interview, SkillRequest } from "@/api/types";
import { Button } from "@/ui/Button";
import { Kbd } from "@/ui/Kbd";
import { Refusal } from "@/ui/Refusal";
import type { Talk } from "../session/useTalk";
import { useTurnFocus } from "../turn/useTurnFocus";
import { questionOf } from "../turn/words";
import { BotReview } from "./BotReview";
import { SkillReview } from "./SkillReview";
import type { Review as Reviewed } from "./useReview";
import { createWord } from "./words";

type Props = { session: Interview; talk: Talk; review: Reviewed };

/** The final review before anything is created. */
export function Review({ session, talk, review }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  useTurnFocus(session.revision, heading);
  const { turn } = session;
  const config = review.wanted && "config" in review.wanted ? review.wanted.config : null;
  const request = review.wanted && "skill_request" in review.wanted ? review.wanted.skill_request : null;
  const submit = (event: FormEvent | KeyboardEvent) => {
    event.preventDefault();
    if (isNamed(config, request)) review.create();
  };
  return (
    <form onSubmit={submit} className="space-y-4">
      <h2
        ref={heading}
        tabIndex={-1}
        onKeyDown={(event) => event.key === "Enter" && !event.repeat && submit(event)}
        className="text-xl font-semibold break-words outline-none"
      >
        {turn && questionOf(turn)}
      </h2>
      {config && <BotReview session={session} config={config} change={review.change} back={talk.back} />}
      {request && <SkillReview session={session} request={request} change={review.change} />}
      <Refusal error={review.error ?? talk.problem} />
      <div className="sticky bottom-0 -mx-4 flex flex-wrap items-center gap-2 border-t border-line bg-bg px-4 py-2.5 max-sm:-mx-3 max-sm:px-3">
        <Button
          look="ghost"
          disabled={talk.isSending || session.lines.length === 0}
          onClick={() => talk.back()}
        >
          Back
        </Button>
        <Button
          className="ml-auto"
          aria-pressed={review.shown !== null}
          onClick={() => review.showFiles(true)}
        >
          <FileText size={13} aria-hidden /> Show files
        </Button>
        <Button type="submit" look="primary" disabled={review.isCreating || !isNamed(config, request)}>
          <Check size={13} aria-hidden /> {createWord(session, review.isCreating)} <Kbd keys="enter" />
        </Button>
      </div>
    </form>
  );
}

const isNamed = (config: BuilderConfig | null, request: SkillRequest | null): boolean =>
  (config ?? request)?.name.trim() !== "";
