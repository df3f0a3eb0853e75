/** A workflow that somebody is writing, as a definition and as YAML: one of the two may be ahead of the other. */
import type { Written } from "@/api/workflows";
import type { Definition } from "../definition/model";

export type Draft = {
  /** Null while the YAML cannot be read as one. */
  definition: Definition | null;
  source: string;
  /** Which of the two was changed last, and is what counts; null when they say the same. */
  ahead: "definition" | "source" | null;
};

export const drawn = (draft: Draft, definition: Definition): Draft => ({
  ...draft,
  definition,
  ahead: "definition",
});

export const typed = (draft: Draft, source: string): Draft =>
  source === draft.source ? draft : { ...draft, source, ahead: "source" };

/** What to send: of both, the server writes the definition into the YAML, so that its comments stay. */
export function wishOf({ definition, source, ahead }: Draft): Written {
  if (ahead !== "definition" || !definition) return { source };
  return { source, definition: { ...definition } };
}

export function isSame(one: Draft, other: Draft): boolean {
  if (one === other) return true;
  if (one.ahead === "source" || other.ahead === "source") return one.source === other.source;
  return JSON.stringify(one.definition) === JSON.stringify(other.definition);
}
