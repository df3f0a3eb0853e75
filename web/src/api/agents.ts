/** Start agents and send them messages. Their progress is followed through their run. */
import { http, unwrap } from "./client";
import type { AgentLimits, AgentRole, Interjection, Run } from "./types";

export type NewAgent = { workspaceId: string; task: string; role: AgentRole; turns: number };

export function startAgent({ workspaceId, task, role, turns }: NewAgent): Promise<Run> {
  // The server has defaults for the other limits; only the generated types require all of them.
  const limits = { turns } as AgentLimits;
  const body = { workspace_id: workspaceId, task, role, limits };
  return unwrap(http.POST("/api/v1/agents", { body }));
}

export function tellAgent({ runId, text }: { runId: string; text: string }): Promise<Interjection> {
  const path = { run_id: runId };
  return unwrap(http.POST("/api/v1/agents/{run_id}/messages", { params: { path }, body: { text } }));
}
