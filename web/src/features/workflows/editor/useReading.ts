import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { WorkflowPlace, WorkflowReading } from "@/api/types";
import { readDefinition, type Written } from "@/api/workflows";
import { useQuiet } from "@/ui/useQuiet";
import { type Draft, wishOf } from "./draft";

const QUIET_MS = 400;
const NONE: readonly WorkflowPlace[] = [];

export function readingQuery(wish: Written) {
  return queryOptions<WorkflowReading>({
    queryKey: ["workflow-reading", wish],
    queryFn: ({ signal }) => readDefinition(wish, signal),
    gcTime: 10_000,
  });
}

export type Read = {
  problems: readonly WorkflowPlace[];
  /** The number of problems by step ID. */
  mistakes: Readonly<Record<string, number>>;
  error: unknown;
};

/** Validation of the draft, requested after a short pause in editing. */
export function useReading(draft: Draft): Read {
  const wish = useMemo(() => wishOf(draft), [draft]);
  const quiet = useQuiet(wish, QUIET_MS);
  const reading = useQuery({ ...readingQuery(quiet), placeholderData: keepPreviousData });
  const problems = reading.data?.problems ?? NONE;
  const mistakes = useMemo(() => {
    const counts: Record<string, number> = {};
    for (const { step, is_warning: isWarning } of problems) {
      if (step && !isWarning) counts[step] = (counts[step] ?? 0) + 1;
    }
    return counts;
  }, [problems]);
  return { problems, mistakes, error: reading.error };
}
