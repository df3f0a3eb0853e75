import { useMutation } from "@tanstack/react-query";
import { Square } from "lucide-react";
import { useState } from "react";
import { cancelRun } from "@/api/runs";
import { Button } from "@/ui/Button";
import { Confirm } from "@/ui/Confirm";
import { Kbd } from "@/ui/Kbd";
import { useShortcut } from "@/ui/shortcuts";

export function CancelRun({ runId, title }: { runId: string; title: string }) {
  const [isAsking, setAsking] = useState(false);
  useShortcut("x", { label: "Cancel the run", group: "Run" }, () => setAsking(true));
  const cancel = useMutation({
    mutationFn: () => cancelRun(runId),
    onSettled: () => setAsking(false),
  });
  return (
    <>
      <Button look="danger" onClick={() => setAsking(true)}>
        <Square size={12} aria-hidden /> Cancel <Kbd keys="x" />
      </Button>
      <Confirm
        open={isAsking}
        onOpenChange={setAsking}
        title={`Cancel “${title}”?`}
        description="The current step is stopped. What finished stays in the log, but the run cannot be continued."
        action="Cancel the run"
        isBusy={cancel.isPending}
        onConfirm={cancel.mutate}
      />
    </>
  );
}
