import type { RunDetail } from "@/api/types";

/** The known input of an agent's run; the input of a run is untyped. */
export type AgentGiven = { task: string; workspaceId: string | null; role: string | null };

export function givenOf({ run, input: { task, workspace_id, role } }: RunDetail): AgentGiven {
  const text = (value: unknown) => (typeof value === "string" && value ? value : null);
  return { task: text(task) ?? run.title, workspaceId: text(workspace_id), role: text(role) };
}
