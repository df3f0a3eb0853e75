import { clsx } from "clsx";
import { useState } from "react";
import type { StagedSkills } from "@/api/types";
import { Button } from "@/ui/Button";
import { count } from "@/ui/count";
import { EmptyState } from "@/ui/EmptyState";
import { Refusal } from "@/ui/Refusal";
import { canInstall, decide, decisionOn } from "../choices";
import type { Install } from "../useInstall";
import { Found } from "./Found";
import { SkillReview } from "./SkillReview";

type Props = { stage: StagedSkills; install: Install; isUpdate: boolean; close: () => void };

/** Review of the fetched skills: a list if there are several, the details of one, and the install button. */
export function Review({ stage: { skills }, install, isUpdate, close }: Props) {
  const [shownPath, setShownPath] = useState((skills.find(canInstall) ?? skills[0])?.path);
  const shown = skills.find(({ path }) => path === shownPath) ?? skills[0];
  const isMany = skills.length > 1;
  return (
    <div className="mt-3 space-y-3">
      {skills.length === 0 && (
        <EmptyState
          title="No skills found"
          sentence={
            <>
              A skill is a folder that contains <code className="mono">SKILL.md</code>. No such folder was
              found.
            </>
          }
        />
      )}
      {shown && (
        <div
          className={clsx(
            "grid gap-3",
            isMany && "lg:h-[56vh] lg:grid-cols-[minmax(0,340px)_minmax(0,1fr)] lg:grid-rows-[minmax(0,1fr)]",
          )}
        >
          {isMany && (
            <Found
              skills={skills}
              decisions={install.decisions}
              setDecisions={install.setDecisions}
              shown={shown.path}
              show={setShownPath}
            />
          )}
          <SkillReview
            key={shown.path}
            skill={shown}
            isAlone={!isMany}
            decision={decisionOn(install.decisions, shown)}
            change={(changed) => install.setDecisions((before) => decide(before, shown, changed))}
          />
        </div>
      )}
      <Refusal error={install.install.error} />
      {/* Sticky, so that it is visible with long content. */}
      <div className="sticky -bottom-4 -mx-4 -mb-4 flex flex-wrap items-center justify-end gap-2 border-t border-line bg-surface px-4 py-3">
        <p role="status" className="mr-auto text-dim">
          {install.chosen.length > 0 && summaryOf(install)}
        </p>
        {isUpdate ? (
          <Button look="ghost" onClick={close}>
            Not now
          </Button>
        ) : (
          <Button look="ghost" disabled={install.install.isPending} onClick={install.back}>
            Back
          </Button>
        )}
        <Button
          look="primary"
          disabled={install.chosen.length === 0 || install.install.isPending}
          onClick={install.start}
        >
          {install.install.isPending ? "Installing…" : actionOf(install.chosen.length, isMany, isUpdate)}
        </Button>
      </div>
    </div>
  );
}

function actionOf(chosen: number, isMany: boolean, isUpdate: boolean): string {
  if (isUpdate) return "Install update";
  return isMany && chosen > 0 ? `Install ${count(chosen, "skill")}` : "Install";
}

function summaryOf({ chosen, decisions }: Install): string {
  const granted = chosen.reduce(
    (sum, skill) => sum + Object.keys(decisionOn(decisions, skill).grants).length,
    0,
  );
  const replaced = chosen.filter(({ replaces }) => replaces).length;
  const facts = [
    granted === 0 ? "nothing granted" : `${granted} granted`,
    ...(replaced > 0 ? [`${replaced} replaced`] : []),
  ];
  return `${count(chosen.length, "skill")} selected, ${facts.join(", ")}.`;
}
