import type { TurnOf } from "@/api/types";
import type { Talk } from "../session/useTalk";

/** The option that Forge adds itself where no model can be called. */
const SET_UP = "setup";

/** Choosing an option answers the turn; only a model is set up right here, and the question waits. */
export function choiceOf(turn: TurnOf<"ask_question">, talk: Talk, setUp: () => void) {
  return (index: number) => {
    if (turn.options[index]?.id === SET_UP) setUp();
    else talk.choose(index);
  };
}
