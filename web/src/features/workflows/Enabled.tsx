import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { WorkflowCard } from "@/api/types";
import { putWorkflow, refreshWorkflow, switchWorkflow } from "@/api/workflows";
import { Switch } from "@/ui/Switch";
import { toast } from "@/ui/toast";

/** The switch for a workflow's triggers. Optimistic: it falls back if the server rejects the change. */
export function Enabled({ workflow: { id, name, is_enabled } }: { workflow: WorkflowCard }) {
  const cache = useQueryClient();
  const change = useMutation({
    mutationFn: switchWorkflow,
    onSuccess: (switched, { isEnabled }) => {
      putWorkflow(cache, switched);
      toast.ok(isEnabled ? `Enabled ${name}.` : `Disabled ${name}. It can only be started manually.`);
    },
    onSettled: () => refreshWorkflow(cache, { workflow_id: id, name }),
  });
  const isOn = change.isPending ? change.variables.isEnabled : is_enabled;
  return (
    <Switch
      label={`${name}: triggers`}
      isOn={isOn}
      disabled={change.isPending}
      onChange={(isEnabled) => change.mutate({ ref: id, isEnabled })}
    />
  );
}
