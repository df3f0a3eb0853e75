/** The state of an interview: the latest session, and the text the model is writing. */
import type { Event, Interview } from "@/api/types";

export type Followed = {
  session: Interview;
  /** The text of the next turn so far. */
  growing: string;
  /** It was deleted. */
  isGone: boolean;
};

/** An update: an event of the stream, or a session returned by a request. */
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

/** The latest revision wins. Partial text belongs to the previous turn. */
function withSession(followed: Followed, session: Interview): Followed {
  const { revision } = followed.session;
  if (session.session_id !== followed.session.session_id || session.revision < revision) return followed;
  return { session, growing: session.revision === revision ? followed.growing : "", isGone: false };
}
