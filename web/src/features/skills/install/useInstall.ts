import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { dropStage, fetchSkills, installSkills, uploadSkills } from "@/api/skillStages";
import { skillsQuery } from "@/api/skills";
import type { InstalledSkill, SkillSource, StagedSkills } from "@/api/types";
import { chosenOf, type Decisions, firstDecisions, wishOf } from "./choices";
import { type Loose, pack } from "./pack";

/** Where the skills come from: files of this machine, or a place the server fetches from. */
export type Wanted = { files: Promise<Loose[]> | Loose[] } | { source: SkillSource };

export type Install = ReturnType<typeof useInstall>;

/** The way of a skill into the library: fetched, looked at, installed. */
export function useInstall(given: StagedSkills | null) {
  const cache = useQueryClient();
  const [stage, setStage] = useState(given);
  const [decisions, setDecisions] = useState<Decisions>(() => firstDecisions(given?.skills ?? [], true));
  const [results, setResults] = useState<readonly InstalledSkill[] | null>(null);

  const get = useMutation({
    mutationFn: async (wanted: Wanted) =>
      "source" in wanted ? fetchSkills(wanted.source) : uploadSkills(await pack(await wanted.files)),
    meta: { isShownInPlace: true },
    onSuccess: (staged) => {
      setStage(staged);
      setDecisions(firstDecisions(staged.skills, false));
    },
  });
  const install = useMutation({
    mutationFn: installSkills,
    meta: { isShownInPlace: true },
    onSuccess: (installed) => {
      setResults(installed);
      void cache.invalidateQueries({ queryKey: skillsQuery.queryKey });
      for (const { name } of installed) void cache.invalidateQueries({ queryKey: ["skill", name] });
    },
  });

  const chosen = chosenOf(decisions, stage?.skills ?? []);
  const forget = () => {
    // What is not dropped is forgotten after an hour all the same.
    if (stage) void dropStage(stage.id).catch(() => undefined);
  };
  return {
    stage,
    decisions,
    setDecisions,
    chosen,
    results,
    get,
    install,
    start: () => {
      if (stage && chosen.length > 0 && !install.isPending) {
        install.mutate({ stage: stage.id, ...wishOf(decisions, chosen) });
      }
    },
    /** Back to where they come from; what was typed there is still there. */
    back: () => {
      forget();
      setStage(null);
      install.reset();
      get.reset();
    },
    /** Back to what was fetched, after some of it could not be installed. */
    review: () => {
      setResults(null);
      install.reset();
    },
    forget,
  };
}
