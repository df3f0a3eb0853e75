/** An edited workflow as definition and YAML; one of the two may be newer. */
import type { Written } from "@/api/workflows";
import type { Definition } from "../definition/model";

export type Draft = {
  /** null if the YAML is invalid. */
  definition: Definition | null;
  source: string;
  /** Which of the two is newer; null if they are equal. */
  ahead: "definition" | "source" | null;
};

export const drawn = (draft: Draft, definition: Definition): Draft => ({
  ...draft,
  definition,
  ahead: "definition",
});

export const typed = (draft: Draft, source: string): Draft =>
  source === draft.source ? draft : { ...draft, source, ahead: "source" };

/** The request: with both, the server writes the definition into the YAML and keeps its comments. */
export function wishOf({ definition, source, ahead }: Draft): Written {
  if (ahead !== "definition" || !definition) return { source };
  return { source, definition: { ...definition } };
}

export function isSame(one: Draft, other: Draft): boolean {
  if (one === other) return true;
  if (one.ahead === "source" || other.ahead === "source") return one.source === other.source;
  return JSON.stringify(one.definition) === JSON.stringify(other.definition);
}
