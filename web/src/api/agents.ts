/** Giving an agent a task, and telling it something while it works. Watching one is watching its run. */
import { http, unwrap } from "./client";
import type { AgentLimits, AgentRole, Interjection, Run } from "./types";

export type NewAgent = { workspaceId: string; task: string; role: AgentRole; turns: number };

export function startAgent({ workspaceId, task, role, turns }: NewAgent): Promise<Run> {
  // The other limits are left to the server: the types ask for all of them, the server does not.
  const limits = { turns } as AgentLimits;
  const body = { workspace_id: workspaceId, task, role, limits };
  return unwrap(http.POST("/api/v1/agents", { body }));
}

export function tellAgent({ runId, text }: { runId: string; text: string }): Promise<Interjection> {
  const path = { run_id: runId };
  return unwrap(http.POST("/api/v1/agents/{run_id}/messages", { params: { path }, body: { text } }));
}
