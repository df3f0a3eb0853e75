import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { FileProblem, FileState } from "@/api/types";
import { draftProblemsQuery } from "@/api/versions";
import type { EditorMark } from "@/ui/editor/Editor";
import { useQuiet } from "@/ui/useQuiet";
import type { Draft } from "./draft";

const QUIET_MS = 400;

/** What is wrong with the text on the page: the server is asked once nobody has typed for a moment. */
export function useChecked(
  slug: string,
  state: FileState,
  draft: Draft | undefined,
): { found: readonly FileProblem[]; marks: readonly EditorMark[] } {
  const text = useQuiet(draft?.text, QUIET_MS);
  const checked = useQuery({
    ...draftProblemsQuery(slug, state.file, text ?? ""),
    enabled: draft !== undefined && text !== undefined,
    placeholderData: keepPreviousData,
  });
  const found = draft === undefined ? state.problems : (checked.data ?? state.problems);
  const marks = useMemo(() => found.map(toMark), [found]);
  return { found, marks };
}

const toMark = ({ line, column, message, is_warning }: FileProblem): EditorMark => ({
  line: line ?? null,
  column: column ?? null,
  message,
  isWarning: is_warning,
});
