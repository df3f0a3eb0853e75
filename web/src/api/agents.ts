/** Start agents and send them messages. Their progress is followed through their run. */
import { queryOptions } from "@tanstack/react-query";
import { http, unwrap } from "./client";
import type { AgentLimits, AgentRole, Interjection, Run } from "./types";

export type NewAgent = {
  workspaceId: string;
  task: string;
  role: AgentRole;
  turns: number;
  /** A test command that Forge runs itself at the end. */
  verify: string | null;
};

export function startAgent({ workspaceId, task, role, turns, verify }: NewAgent): Promise<Run> {
  // The server has defaults for the other limits; only the generated types require all of them.
  const limits = { turns } as AgentLimits;
  const body = { workspace_id: workspaceId, task, role, limits, verify };
  return unwrap(http.POST("/api/v1/agents", { body }));
}

/** Commands that probably run the tests of a workspace. */
export function testCommandsQuery(workspaceId: string) {
  return queryOptions<string[]>({
    queryKey: ["workspace", workspaceId, "test-commands"],
    queryFn: async ({ signal }) => {
      const params = { query: { workspace_id: workspaceId } };
      return (await unwrap(http.GET("/api/v1/agents/verify-commands", { params, signal }))).commands;
    },
  });
}

export function tellAgent({ runId, text }: { runId: string; text: string }): Promise<Interjection> {
  const path = { run_id: runId };
  return unwrap(http.POST("/api/v1/agents/{run_id}/messages", { params: { path }, body: { text } }));
}
