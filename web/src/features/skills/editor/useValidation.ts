import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { validateSkill } from "@/api/skills";
import type { SkillKind, SkillProblem } from "@/api/types";
import { useQuiet } from "@/ui/useQuiet";
import { kindOf } from "../words";
import type { Texts } from "./draft";

const QUIET_MS = 400;
const NONE: readonly SkillProblem[] = [];

export type Validation = {
  problems: readonly SkillProblem[];
  /** Problems with a line number, which always refers to `SKILL.md`. */
  inMain: readonly SkillProblem[];
  /** The declared kind; null until it is known. */
  kind: SkillKind | null;
};

/** Validation of the files, requested after a short pause in typing. */
export function useValidation(name: string, texts: Texts): Validation {
  const quiet = useQuiet(texts, QUIET_MS);
  const validation = useQuery({
    queryKey: ["skill-validation", name, quiet],
    queryFn: ({ signal }) => validateSkill({ name, files: { ...quiet } }, signal),
    placeholderData: keepPreviousData,
    gcTime: 0,
  });
  const problems = validation.data?.problems ?? NONE;
  const manifest = validation.data?.manifest;
  const inMain = useMemo(() => problems.filter(({ line }) => line != null), [problems]);
  return { problems, inMain, kind: manifest ? kindOf(manifest) : null };
}
