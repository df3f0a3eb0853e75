import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { modelsQuery } from "@/api/models";
import type { InterviewSpeaker } from "@/api/types";
import { Dot } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { SetUpModel } from "../SetUpModel";
import { shortModel } from "../words";

type Props = { speaker: InterviewSpeaker | null; choose: (speaker: InterviewSpeaker | null) => void };

/** Who will ask: a model, or Forge's own questions. Both lead to the same kind of bot. */
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
        <span>{interviewer.problem ? "No model yet: Forge’s own questions." : "Forge’s own questions."}</span>
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
          {isGuide ? `Let ${model} ask` : "Use Forge’s own questions"}
        </Button>
      )}
      {isSettingUp && <SetUpModel close={() => setSettingUp(false)} />}
    </p>
  );
}
