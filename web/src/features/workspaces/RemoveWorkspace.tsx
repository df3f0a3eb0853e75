import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import type { Workspace } from "@/api/types";
import { removeWorkspace, workspacesQuery } from "@/api/workspaces";
import { IconButton } from "@/ui/Button";
import { Confirm } from "@/ui/Confirm";
import { toast } from "@/ui/toast";

export function RemoveWorkspace({ workspace }: { workspace: Workspace }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [isAsking, setAsking] = useState(false);
  const remove = useMutation({
    mutationFn: removeWorkspace,
    onSuccess: async () => {
      toast.ok(`Removed ${workspace.name}.`);
      await queries.invalidateQueries({ queryKey: workspacesQuery.queryKey });
      await navigate({ to: "/workspaces" });
    },
    onError: () => setAsking(false),
  });
  const fate = workspace.is_adopted
    ? "The directory was there before and stays as it is; Forge forgets it and its history."
    : "The directory and everything in it is deleted. This cannot be undone.";
  return (
    <>
      <IconButton label="Remove the workspace" onClick={() => setAsking(true)}>
        <Trash2 size={15} strokeWidth={1.75} aria-hidden />
      </IconButton>
      <Confirm
        open={isAsking}
        onOpenChange={setAsking}
        title={`Remove ${workspace.name}?`}
        description={fate}
        action="Remove the workspace"
        word={workspace.name}
        isBusy={remove.isPending}
        onConfirm={() => remove.mutate(workspace)}
      />
    </>
  );
}
