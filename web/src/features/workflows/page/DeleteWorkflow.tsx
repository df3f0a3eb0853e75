import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { WorkflowDetail } from "@/api/types";
import { deleteWorkflow, refreshWorkflow } from "@/api/workflows";
import { Confirm } from "@/ui/Confirm";
import { toast } from "@/ui/toast";

export function DeleteWorkflow({ workflow, close }: { workflow: WorkflowDetail; close: () => void }) {
  const { id, name } = workflow;
  const cache = useQueryClient();
  const navigate = useNavigate();
  const remove = useMutation({
    mutationFn: () => deleteWorkflow(id),
    onSuccess: async () => {
      await navigate({ to: "/workflows" });
      for (const ref of [id, name]) cache.removeQueries({ queryKey: ["workflow", ref] });
      refreshWorkflow(cache, { workflow_id: id, name });
      toast.ok(`Deleted ${name}.`);
    },
    onError: close,
  });
  return (
    <Confirm
      open
      onOpenChange={close}
      title={`Delete ${name}?`}
      description="Its triggers are removed, active runs are cancelled and all versions are deleted. Finished runs can still be viewed."
      action="Delete workflow"
      word={name}
      isBusy={remove.isPending}
      onConfirm={remove.mutate}
    />
  );
}
