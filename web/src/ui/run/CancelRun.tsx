import { useMutation } from "@tanstack/react-query";
import { Square } from "lucide-react";
import { useState } from "react";
import { Button } from "../Button";
import { Confirm } from "../Confirm";
import { Kbd } from "../Kbd";
import { useShortcut } from "../shortcuts";

type Props = { title: string; cancel: () => Promise<unknown>; description?: string };

const WHAT_HAPPENS = "Stops the current step. Finished steps stay in the log, but the run cannot be resumed.";

export function CancelRun({ title, cancel, description = WHAT_HAPPENS }: Props) {
  const [isAsking, setAsking] = useState(false);
  useShortcut("x", { label: "Cancel run", group: "Run" }, () => setAsking(true));
  const stop = useMutation({
    mutationFn: cancel,
    onSettled: () => setAsking(false),
  });
  return (
    <>
      <Button look="danger" onClick={() => setAsking(true)}>
        <Square size={11} fill="currentColor" aria-hidden /> Cancel <Kbd keys="x" />
      </Button>
      <Confirm
        open={isAsking}
        onOpenChange={setAsking}
        title={`Cancel “${title}”?`}
        description={description}
        action="Cancel run"
        isBusy={stop.isPending}
        onConfirm={stop.mutate}
      />
    </>
  );
}
