import { FilePlus, Workflow } from "lucide-react";
import { WORKFLOW, workflowsQuery } from "@/api/workflows";
import type { Area, AreaCommand, ShellActions } from "@/area";
import {
  editWorkflowRoute,
  newWorkflowRoute,
  workflowRoute,
  workflowRunRoute,
  workflowsRoute,
} from "./routes";
import { refOf } from "./words";

export const workflows = {
  label: "Workflows",
  routes: [workflowsRoute, newWorkflowRoute, workflowRunRoute, editWorkflowRoute, workflowRoute],
  nav: { to: "/workflows", icon: Workflow, key: "w", kind: WORKFLOW },
  commands: (shell) => [create(shell), ...known(shell)],
} satisfies Area;

function create({ go }: ShellActions): AreaCommand {
  return {
    id: "new-workflow",
    label: "New workflow",
    keywords: "create automation chain schedule cron webhook canvas yaml",
    icon: FilePlus,
    run: () => go("/workflows/new"),
  };
}

/** Only workflows that are already cached: the palette makes no requests. */
function known({ go, queries }: ShellActions): AreaCommand[] {
  const found = queries.getQueryData(workflowsQuery.queryKey) ?? [];
  return found.map((workflow) => ({
    id: `workflow-${workflow.id}`,
    label: workflow.name,
    keywords: `workflow ${workflow.owner ?? ""} ${workflow.triggers.map(({ title }) => title).join(" ")}`,
    icon: Workflow,
    run: () => go(`/workflows/${refOf(workflow)}`),
  }));
}
