/** What a page knows of an interview: the session as it was last told, and what the model is writing just now. */
import type { Event, Interview } from "@/api/types";

export type Followed = {
  session: Interview;
  /** The beginning of the next turn. */
  growing: string;
  /** Somebody deleted it. */
  isGone: boolean;
};

/** What is heard of it: events of its stream, or the session as a request brought it. */
export type Told = Event | { type: "read"; session: Interview } | { type: "gone" };

export const opened = (session: Interview): Followed => ({ session, growing: "", isGone: false });

export const follow = (followed: Followed, told: readonly Told[]): Followed => told.reduce(hear, followed);

function hear(followed: Followed, told: Told): Followed {
  switch (told.type) {
    case "read":
      return withSession(followed, told.session);
    case "interview.turned":
      return withSession(followed, told.data.session);
    case "interview.delta":
      return followed.session.due ? { ...followed, growing: followed.growing + told.data.text } : followed;
    case "interview.deleted":
    case "gone":
      return { ...followed, isGone: true };
    default:
      return followed;
  }
}

/** The later one counts, whichever way it came. What was growing belongs to the turn before. */
function withSession(followed: Followed, session: Interview): Followed {
  const { revision } = followed.session;
  if (session.session_id !== followed.session.session_id || session.revision < revision) return followed;
  return { session, growing: session.revision === revision ? followed.growing : "", isGone: false };
}
