import type { Interview } from "@/api/types";
import { Review } from "../review/Review";
import type { Review as Reviewed } from "../review/useReview";
import type { Talk } from "../session/useTalk";
import { Thinking } from "../turn/Thinking";
import { Step } from "./Step";
import { Steps } from "./Steps";

type Props = { session: Interview; growing: string; talk: Talk; review: Reviewed; setUp: () => void };

/** The interview step by step, one question at a time. */
export function Wizard({ session, growing, talk, review, setUp }: Props) {
  return (
    <div className="mx-auto max-w-[720px] space-y-5 p-4 max-sm:p-3 sm:py-6">
      <Steps session={session} back={talk.back} isBusy={talk.isSending || session.due !== null} />
      {session.due ? (
        <Thinking session={session} growing={growing} cancel={talk.cancel} />
      ) : session.turn?.action === "ready_to_assemble" || session.turn?.action === "ready_to_create_skill" ? (
        <Review session={session} talk={talk} review={review} />
      ) : (
        session.turn && (
          <Step key={session.revision} session={session} turn={session.turn} talk={talk} setUp={setUp} />
        )
      )}
    </div>
  );
}
