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
    ? "The directory existed before and is kept. Only the workspace and its history are removed."
    : "The directory and everything in it will be deleted. This cannot be undone.";
  return (
    <>
      <IconButton label="Remove workspace" onClick={() => setAsking(true)}>
        <Trash2 size={15} strokeWidth={1.75} aria-hidden />
      </IconButton>
      <Confirm
        open={isAsking}
        onOpenChange={setAsking}
        title={`Remove ${workspace.name}?`}
        description={fate}
        action="Remove workspace"
        word={workspace.name}
        isBusy={remove.isPending}
        onConfirm={() => remove.mutate(workspace)}
      />
    </>
  );
}
