import { useQuery } from "@tanstack/react-query";
import { modelsQuery } from "@/api/models";
import { ErrorState } from "@/ui/ErrorState";
import { SkeletonRows } from "@/ui/Skeleton";
import { Budgets } from "./Budgets";
import { Calls } from "./Calls";
import { FirstSteps } from "./FirstSteps";
import { Prices } from "./Prices";
import { Providers } from "./Providers";
import { Roles } from "./Roles";

export function ModelsPage() {
  const models = useQuery(modelsQuery);
  if (models.isPending) return <SkeletonRows rows={8} label="Loading models" />;
  if (models.isLoadingError) return <ErrorState error={models.error} retry={models.refetch} />;
  const view = models.data;
  return (
    <>
      {view.roles.every((role) => role.problem) && <FirstSteps providers={view.providers} />}
      <Roles models={view} />
      <Providers models={view} />
      <Budgets models={view} />
      <Prices models={view} />
      <Calls />
    </>
  );
}
