/** The form that starts an interview, and the request made from it. */
import type { InterviewSpeaker, NewInterview } from "@/api/types";

export const KINDS = ["bot", "skill", "batch"] as const;
export type Kind = (typeof KINDS)[number];

export type Wish = {
  kind: Kind;
  description: string;
  /** How many bots a batch creates. */
  variants: number;
  /** An existing SOUL.md, or empty. */
  soul: string;
  /** null: the server decides, preferring a model. */
  speaker: InterviewSpeaker | null;
};

export const NO_WISH: Wish = { kind: "bot", description: "", variants: 3, soul: "", speaker: null };

/** A description or, for a bot, a SOUL.md is required. */
export const isSaid = ({ kind, description, soul }: Wish): boolean =>
  description.trim() !== "" || (kind === "bot" && soul.trim() !== "");

export function bodyOf({ kind, description, variants, soul, speaker }: Wish): Partial<NewInterview> {
  return {
    mode: kind,
    description: description.trim(),
    ...(kind === "batch" && { variants }),
    ...(kind === "bot" && soul.trim() !== "" && { soul }),
    ...(speaker && { speaker }),
  };
}

export const EXAMPLES: Record<Kind, readonly string[]> = {
  bot: [
    "A patient tutor who explains mathematics to a twelve-year-old",
    "Turns my meeting notes into a list of tasks",
    "Answers customers' questions about our bicycles",
    "Reviews Python code and explains what it would change",
    "Reads research papers and compares what they found",
  ],
  skill: [
    "Counts the words of a text and says how long it takes to read",
    "Writes release notes from a list of commits",
    "Turns a table into CSV",
    "Checks a text for words our style guide does not want",
    "Converts between miles and kilometers",
  ],
  batch: [
    "A writing partner, once strict, once playful, once brief",
    "Support for our bicycle shop, one bot for each language",
    "Debate partners who defend different sides",
    "Study companions for history, physics and music",
    "Code reviewers with an eye for safety, speed and style",
  ],
};
