import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { AUDIT } from "@/api/audits";
import { runQuery } from "@/api/runs";
import { AgentPage } from "./agent/AgentPage";
import { AuditPage } from "./audit/AuditPage";
import { StepsPage } from "./StepsPage";

const route = getRouteApi("/shell/runs/$runId");

/** Agents and audits have their own pages; other runs show their steps. */
export function RunPage() {
  const { runId } = route.useParams();
  const detail = useSuspenseQuery(runQuery(runId)).data;
  if (detail.run.kind === "agent") return <AgentPage detail={detail} />;
  return detail.run.kind === AUDIT ? <AuditPage detail={detail} /> : <StepsPage detail={detail} />;
}
