import { useMutation } from "@tanstack/react-query";
import { answerGate } from "@/api/gates";
import type { Gate } from "@/api/types";
import { GateCard } from "@/ui/run/GateCard";
import { toast } from "@/ui/toast";

/** The questions this run waits on. The answer itself arrives as an event, so nothing is changed here. */
export function OpenGates({ gates }: { gates: readonly Gate[] }) {
  const answer = useMutation({
    mutationFn: answerGate,
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
          isBusy={answer.isPending}
          onAnswer={(option, comment) => answer.mutate({ gate, option, comment })}
        />
      ))}
    </div>
  );
}
