import { useQuery } from "@tanstack/react-query";
import { triggerWorkflow, workflowQuery } from "@/api/workflows";
import { ErrorState } from "@/ui/ErrorState";
import { Modal } from "@/ui/Modal";
import { SkeletonRows } from "@/ui/Skeleton";
import { asDefinition } from "../definition/model";
import { StartDialog } from "./StartDialog";

type Props = { reference: string; close: () => void };

/** Run the saved workflow. */
export function StartSaved({ reference, close }: Props) {
  const workflow = useQuery(workflowQuery(reference));
  if (!workflow.data) {
    return (
      <Modal open onOpenChange={close} wide title={`Run ${reference}`}>
        {workflow.isLoadingError ? (
          <ErrorState error={workflow.error} retry={workflow.refetch} />
        ) : (
          <SkeletonRows rows={3} label="Loading inputs" />
        )}
      </Modal>
    );
  }
  const { id, name, definition } = workflow.data;
  return (
    <StartDialog
      title={`Run ${name}`}
      inputs={asDefinition(definition).inputs ?? {}}
      start={({ payload }) => triggerWorkflow({ ref: id, payload })}
      close={close}
    />
  );
}
