import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { workflowQuery } from "@/api/workflows";
import { ErrorState } from "@/ui/ErrorState";
import { Page } from "@/ui/Page";
import { SkeletonRows } from "@/ui/Skeleton";
import { CRUMBS } from "../words";
import { OpenedWorkflow } from "./OpenedWorkflow";

const route = getRouteApi("/shell/workflows/$ref/edit");

/** The editor of a saved workflow. */
export function EditWorkflowPage() {
  const { ref } = route.useParams();
  const workflow = useQuery(workflowQuery(ref));
  if (workflow.data) return <OpenedWorkflow workflow={workflow.data} />;
  return (
    <Page title="Edit a workflow" crumbs={CRUMBS}>
      {workflow.isLoadingError ? (
        <ErrorState error={workflow.error} retry={workflow.refetch} />
      ) : (
        <SkeletonRows rows={8} label="Loading workflow" />
      )}
    </Page>
  );
}
