import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { modelsQuery } from "@/api/models";
import type { InterviewSpeaker } from "@/api/types";
import { Dot } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { SetUpModel } from "../SetUpModel";
import { shortModel } from "../words";

type Props = { speaker: InterviewSpeaker | null; choose: (speaker: InterviewSpeaker | null) => void };

/** Who asks the questions: a model or the built-in guide. Both create the same kind of bot. */
export function Voice({ speaker, choose }: Props) {
  const interviewer = useQuery(modelsQuery).data?.roles.find(({ role }) => role === "interviewer");
  const [isSettingUp, setSettingUp] = useState(false);
  if (!interviewer) return null;
  const model = shortModel(interviewer.chain[0] ?? "");
  const isGuide = interviewer.problem !== null || speaker === "guide";
  return (
    <p className="flex min-h-7 flex-wrap items-center gap-x-2 gap-y-1 text-dim">
      <Dot tone={isGuide ? "idle" : "ok"} />
      {isGuide ? (
        <span>
          {interviewer.problem ? "No model configured: built-in questions." : "Built-in questions."}
        </span>
      ) : (
        <span>
          <span className="mono text-ink">{model}</span> asks.
        </span>
      )}
      {interviewer.problem ? (
        <Button look="ghost" onClick={() => setSettingUp(true)}>
          Set up a model
        </Button>
      ) : (
        <Button look="ghost" onClick={() => choose(isGuide ? null : "guide")}>
          {isGuide ? `Let ${model} ask` : "Use built-in questions"}
        </Button>
      )}
      {isSettingUp && <SetUpModel close={() => setSettingUp(false)} />}
    </p>
  );
}
