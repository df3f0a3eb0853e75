import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { dropStage, fetchSkills, installSkills, uploadSkills } from "@/api/skillStages";
import { skillsQuery } from "@/api/skills";
import type { InstalledSkill, SkillSource, StagedSkills } from "@/api/types";
import { chosenOf, type Decisions, firstDecisions, wishOf } from "./choices";
import { type Loose, pack } from "./pack";

/** Files of this computer, or a source that the server fetches. */
export type Wanted = { files: Promise<Loose[]> | Loose[] } | { source: SkillSource };

export type Install = ReturnType<typeof useInstall>;

/** The state of an installation: fetch, review, install. */
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
    // The server deletes abandoned stages after an hour anyway.
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
    /** Back to the source; its form keeps its values. */
    back: () => {
      forget();
      setStage(null);
      install.reset();
      get.reset();
    },
    /** Back to the review, after some skills could not be installed. */
    review: () => {
      setResults(null);
      install.reset();
    },
    forget,
  };
}
