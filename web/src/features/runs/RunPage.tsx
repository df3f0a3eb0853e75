import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { runQuery } from "@/api/runs";
import { AgentPage } from "./agent/AgentPage";
import { StepsPage } from "./StepsPage";

const route = getRouteApi("/shell/runs/$runId");

/** An agent's page is what it says; any other run's page is its steps. */
export function RunPage() {
  const { runId } = route.useParams();
  const detail = useSuspenseQuery(runQuery(runId)).data;
  return detail.run.kind === "agent" ? <AgentPage detail={detail} /> : <StepsPage detail={detail} />;
}
