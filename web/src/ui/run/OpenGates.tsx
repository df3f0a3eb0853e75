import { useMutation } from "@tanstack/react-query";
import type { Gate } from "@/api/types";
import { toast } from "../toast";
import { GateCard } from "./GateCard";

type Answer = { gate: Gate; option: string; comment: string };
type Props = { gates: readonly Gate[]; answer: (answer: Answer) => Promise<unknown> };

/** The questions a run waits on. The answer itself arrives as an event, so nothing is changed here. */
export function OpenGates({ gates, answer }: Props) {
  const send = useMutation({
    mutationFn: answer,
    onSuccess: () => toast.ok("Answered."),
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
          // Of several one may have opened just now: no key answers what nobody has read.
          hasKey={open.length === 1}
          onAnswer={(option, comment) => send.mutate({ gate, option, comment })}
        />
      ))}
    </div>
  );
}
