import { Folder, FolderPlus } from "lucide-react";
import { workspacesQuery } from "@/api/workspaces";
import type { Area, AreaCommand, ShellActions } from "@/area";
import { workspaceRoute, workspacesRoute } from "./routes";

export const workspaces = {
  label: "Workspaces",
  routes: [workspacesRoute, workspaceRoute],
  nav: { to: "/workspaces", icon: Folder, key: "k" },
  commands: (shell) => [create(shell), ...known(shell)],
} satisfies Area;

function create({ go }: ShellActions): AreaCommand {
  return {
    id: "new-workspace",
    label: "Create a workspace",
    keywords: "new folder directory project adopt",
    icon: FolderPlus,
    run: () => go("/workspaces?new=true"),
  };
}

/** Only workspaces that are already cached: the palette makes no requests. */
function known({ go, queries }: ShellActions): AreaCommand[] {
  const found = queries.getQueryData(workspacesQuery.queryKey) ?? [];
  return found.map(({ id, name, path }) => ({
    id,
    label: name,
    keywords: `workspace ${path}`,
    icon: Folder,
    run: () => go(`/workspaces/${id}`),
  }));
}
