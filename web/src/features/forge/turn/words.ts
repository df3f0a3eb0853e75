/** Labels of turns, for screen readers and the chat. */
import type { Interview, InterviewTurn } from "@/api/types";
import { shortModel } from "../words";

export function questionOf(turn: InterviewTurn): string {
  switch (turn.action) {
    case "ask_question":
      return turn.question;
    case "clarify":
      return turn.message;
    case "show_preview":
      return "Here is the current state. Continue?";
    case "ready_to_assemble":
      return turn.config.variants.length > 0
        ? `Ready to create ${turn.config.variants.length} bots.`
        : `${turn.config.name} is ready.`;
    case "ready_to_create_skill":
      return `The skill ${turn.skill_request.name} is ready.`;
  }
}

/** What Forge is currently doing. */
export function doingOf({ due, mode, spoken_by: { model } }: Interview): string {
  if (due === "write") {
    return mode === "skill"
      ? "Forge is writing the skill and testing it in the sandbox"
      : "Forge is writing the soul";
  }
  return `${model ? shortModel(model) : "The model"} is thinking`;
}

/** The announcement for screen readers. */
export function wordsOf(session: Interview): string {
  if (session.made) return "Done.";
  if (session.due) return `${doingOf(session)}.`;
  return session.turn ? questionOf(session.turn) : "";
}

/** Whether the turn can be answered with text. */
export const takesWords = (turn: InterviewTurn): boolean =>
  turn.action === "ask_question" ? turn.allow_free_text : true;
