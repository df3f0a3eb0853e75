import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { FileProblem, FileState } from "@/api/types";
import { draftProblemsQuery } from "@/api/versions";
import { useQuiet } from "@/ui/useQuiet";
import type { Draft } from "./draft";

const QUIET_MS = 400;

/** Validation of the text, requested after a short pause in typing. */
export function useChecked(slug: string, state: FileState, draft: Draft | undefined): readonly FileProblem[] {
  const text = useQuiet(draft?.text, QUIET_MS);
  const checked = useQuery({
    ...draftProblemsQuery(slug, state.file, text ?? ""),
    enabled: draft !== undefined && text !== undefined,
    placeholderData: keepPreviousData,
  });
  return draft === undefined ? state.problems : (checked.data ?? state.problems);
}
