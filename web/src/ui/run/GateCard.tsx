import { useState } from "react";
import type { Gate, GateOption } from "@/api/types";
import { Badge } from "../Badge";
import { Button } from "../Button";
import { TextArea } from "../Field";
import { Kbd } from "../Kbd";
import { KeyValues } from "../KeyValues";
import { Markdown } from "../Markdown";
import { useShortcut } from "../shortcuts";
import { Ago, Remaining } from "../Time";
import { useFocusBack } from "../useFocusBack";

type Props = {
  gate: Gate;
  isBusy: boolean;
  /** `A` chooses the first positive answer. */
  hasKey: boolean;
  onAnswer: (option: string, comment: string) => void;
};

const LOOK = { positive: "primary", neutral: "plain", negative: "danger" } as const;

/** A question of a run: everything needed to decide, and the answers. */
export function GateCard({ gate, isBusy, hasKey, onAnswer }: Props) {
  const [comment, setComment] = useState("");
  const [isCommenting, setCommenting] = useState(false);
  const answer = (option: GateOption) => onAnswer(option.id, comment.trim());
  const first = gate.options.find((option) => option.tone === "positive");
  useShortcut(
    "a",
    { label: first?.label ?? "Approve", group: "Run", enabled: hasKey && first !== undefined && !isBusy },
    () => first && answer(first),
  );
  useFocusBack(true, () => document.querySelector("main"));

  return (
    <section aria-label={`Needs you: ${gate.title}`} className="wash-wait rounded-lg border">
      <header className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 pt-3">
        <Badge tone="wait">needs you</Badge>
        <h2 className="min-w-0 font-semibold break-words">{gate.title}</h2>
        <p className="mono ml-auto flex gap-2 text-dim">
          <Ago at={gate.opened_at} />
          {gate.expires_at && (
            <span>
              · closes in <Remaining to={gate.expires_at} />
            </span>
          )}
        </p>
      </header>
      <div className="space-y-3 px-3 py-3">
        <div className="grid gap-x-8 gap-y-3 lg:grid-cols-2">
          {gate.body && <Markdown text={gate.body} />}
          {Object.keys(gate.payload).length > 0 && <KeyValues of={gate.payload} />}
        </div>
        {isCommenting && (
          <TextArea
            label="Comment (saved with the answer)"
            rows={2}
            autoFocus
            value={comment}
            onChange={(event) => setComment(event.target.value)}
          />
        )}
      </div>
      <footer className="flex flex-wrap gap-2 px-3 pb-3">
        {gate.options.map((option) => (
          <Button
            key={option.id}
            look={LOOK[option.tone ?? "neutral"]}
            disabled={isBusy}
            onClick={() => answer(option)}
          >
            {option.label} {hasKey && option === first && <Kbd keys="a" />}
          </Button>
        ))}
        {!isCommenting && (
          <Button look="ghost" onClick={() => setCommenting(true)}>
            Add a comment
          </Button>
        )}
      </footer>
    </section>
  );
}
