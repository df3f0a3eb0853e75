import type { TurnOf } from "@/api/types";
import type { Talk } from "../session/useTalk";

/** The option offered by the server if no model is configured. */
const SET_UP = "setup";

/** Choosing an option answers the turn, except "Set up a model", which opens a dialog. */
export function choiceOf(turn: TurnOf<"ask_question">, talk: Talk, setUp: () => void) {
  return (index: number) => {
    if (turn.options[index]?.id === SET_UP) setUp();
    else talk.choose(index);
  };
}
