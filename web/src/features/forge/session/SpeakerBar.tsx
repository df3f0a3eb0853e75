import type { Interview } from "@/api/types";
import { Dot } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { formatMicros } from "@/ui/money";
import { toast } from "@/ui/toast";
import { shortModel } from "../words";
import type { Talk } from "./useTalk";

type Props = { session: Interview; talk: Talk; setUp: () => void };

/** Who asks the questions and why, with a button to switch. */
export function SpeakerBar({ session: { spoken_by, cost_micros }, talk, setUp }: Props) {
  const { speaker, model, why, can_switch } = spoken_by;
  const name = model ? shortModel(model) : "a model";
  const switchTo = (wanted: typeof speaker) => talk.switchTo(wanted).catch((error) => toast.error(error));
  return (
    <section
      aria-label="Interviewer"
      className="flex min-h-9 shrink-0 flex-wrap items-center gap-x-2 border-b border-line px-4 py-1 text-dim max-sm:px-3"
    >
      <Dot tone={speaker === "model" ? "ok" : "idle"} />
      {speaker === "model" ? (
        <span>
          <span className="mono text-ink">{name}</span> asks
        </span>
      ) : (
        <span className="min-w-0 break-words">
          <span className="text-ink">Built-in questions</span>
          {why && <span className="max-sm:sr-only"> · {why}</span>}
        </span>
      )}
      {cost_micros > 0 && (
        <span className="mono" title="Spent on this interview">
          {formatMicros(cost_micros)}
        </span>
      )}
      <span className="ml-auto flex">
        {speaker === "model" && (
          <Button look="ghost" disabled={talk.isSwitching} onClick={() => switchTo("guide")}>
            Use built-in questions
          </Button>
        )}
        {speaker === "guide" && can_switch && (
          <Button look="ghost" disabled={talk.isSwitching} onClick={() => switchTo("model")}>
            Let {name} ask
          </Button>
        )}
        {speaker === "guide" && !can_switch && (
          <Button look="ghost" onClick={setUp}>
            Set up a model
          </Button>
        )}
      </span>
    </section>
  );
}
