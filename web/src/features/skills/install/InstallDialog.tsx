import { useState } from "react";
import type { StagedSkills } from "@/api/types";
import { count } from "@/ui/count";
import { Modal } from "@/ui/Modal";
import { Results } from "./Results";
import { Review } from "./review/Review";
import { BLANK, type SourceForm } from "./source/form";
import { Source } from "./source/Source";
import { useInstall } from "./useInstall";

type Props = {
  close: () => void;
  /** An update that was already fetched and is to be reviewed. */
  stage?: StagedSkills | null;
};

/** Install skills in three steps: fetch, review, install. */
export function InstallDialog({ close, stage = null }: Props) {
  const install = useInstall(stage);
  const [form, setForm] = useState<SourceForm>(BLANK);
  const leave = () => {
    install.forget();
    close();
  };
  const isMany = !install.results && (install.stage?.skills.length ?? 0) > 1;
  const step = install.results ? "results" : install.stage ? "review" : "source";
  return (
    <Modal
      open
      onOpenChange={leave}
      title={TITLES[step](install.stage, stage !== null)}
      description={DESCRIPTIONS[step]}
      wide={!isMany}
      widest={isMany}
      isHeld={step !== "results"}
    >
      {step === "source" && (
        <Source
          form={form}
          change={(changed) => setForm((before) => ({ ...before, ...changed }))}
          get={install.get}
          close={leave}
        />
      )}
      {step === "review" && install.stage && (
        <Review stage={install.stage} install={install} isUpdate={stage !== null} close={leave} />
      )}
      {step === "results" && install.results && (
        <Results results={install.results} review={install.review} close={leave} />
      )}
    </Modal>
  );
}

const TITLES = {
  source: () => "Install skills",
  review: (stage: StagedSkills | null, isUpdate: boolean) =>
    isUpdate ? "Review update" : `Review ${count(stage?.skills.length ?? 0, "skill")}`,
  results: () => "Results",
} as const;

const DESCRIPTIONS = {
  source: "Skills are fetched and shown for review. Nothing is executed or installed yet.",
  review: "Nothing is installed yet. Requested capabilities stay off until you enable them.",
  results: undefined,
} as const;
