import { useMutation } from "@tanstack/react-query";
import type { Gate } from "@/api/types";
import { toast } from "../toast";
import { GateCard } from "./GateCard";

type Answer = { gate: Gate; option: string; comment: string };
type Props = { gates: readonly Gate[]; answer: (answer: Answer) => Promise<unknown> };

/** The open questions of a run. Answers arrive as events, so the state is not changed here. */
export function OpenGates({ gates, answer }: Props) {
  const send = useMutation({
    mutationFn: answer,
    onSuccess: () => toast.ok("Answer sent."),
  });
  const open = gates.filter((gate) => gate.status === "open");
  if (open.length === 0) return null;
  return (
    <div className="space-y-3">
      {open.map((gate) => (
        <GateCard
          key={gate.id}
          gate={gate}
          isBusy={send.isPending}
          // With several questions there is no shortcut, because a new one may just have opened.
          hasKey={open.length === 1}
          onAnswer={(option, comment) => send.mutate({ gate, option, comment })}
        />
      ))}
    </div>
  );
}
