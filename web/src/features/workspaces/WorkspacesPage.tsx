import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { FolderPlus } from "lucide-react";
import { useRef } from "react";
import type { Workspace } from "@/api/types";
import { workspacesQuery } from "@/api/workspaces";
import { Button } from "@/ui/Button";
import { EmptyState } from "@/ui/EmptyState";
import { ErrorState } from "@/ui/ErrorState";
import { Kbd } from "@/ui/Kbd";
import { Page } from "@/ui/Page";
import { SkeletonRows } from "@/ui/Skeleton";
import { useShortcut } from "@/ui/shortcuts";
import { Ago } from "@/ui/Time";
import { useRowKeys } from "@/ui/useRowKeys";
import { CreateWorkspace } from "./CreateWorkspace";

const route = getRouteApi("/shell/workspaces");

/** All workspaces. */
export function WorkspacesPage() {
  const workspaces = useQuery(workspacesQuery);
  const navigate = useNavigate();
  const isCreating = route.useSearch().new === true;
  const setCreating = (isOpen: boolean) =>
    void navigate({ to: "/workspaces", search: isOpen ? { new: true } : {}, replace: true });
  useShortcut("c", { label: "Create a workspace", group: "Workspaces" }, () => setCreating(true));
  const create = (look: "plain" | "primary") => (
    <Button look={look} onClick={() => setCreating(true)}>
      <FolderPlus size={13} aria-hidden /> Create a workspace <Kbd keys="c" />
    </Button>
  );
  return (
    <Page title="Workspaces" actions={workspaces.data && workspaces.data.length > 0 && create("plain")}>
      {workspaces.isPending && <SkeletonRows rows={5} label="Loading workspaces" />}
      {workspaces.isLoadingError && <ErrorState error={workspaces.error} retry={workspaces.refetch} />}
      {workspaces.data?.length === 0 && (
        <EmptyState
          title="No workspaces yet"
          sentence="A workspace is a directory agents work in. They can read and change its contents, and nothing outside it."
          action={create("primary")}
          example={
            <>
              or from a terminal: <code className="mono">forge workspaces create basket</code>
            </>
          }
        />
      )}
      {workspaces.data && workspaces.data.length > 0 && <List workspaces={workspaces.data} />}
      {isCreating && <CreateWorkspace close={() => setCreating(false)} />}
    </Page>
  );
}

function List({ workspaces }: { workspaces: readonly Workspace[] }) {
  const list = useRef<HTMLUListElement>(null);
  useRowKeys(list);
  return (
    <ul ref={list} aria-label="Workspaces" className="divide-y divide-line border-b border-line *:*:px-4">
      {workspaces.map((workspace) => (
        <li key={workspace.id}>
          <Link
            to="/workspaces/$workspaceId"
            params={{ workspaceId: workspace.id }}
            data-row
            className="flex min-h-9 items-center gap-x-4 px-3 -outline-offset-2 hover:bg-raised/60 focus-visible:bg-raised/60 max-sm:flex-wrap max-sm:py-1.5"
          >
            <span
              title={workspace.name}
              className="w-[240px] shrink-0 font-medium max-sm:w-0 max-sm:flex-1 max-sm:wrap-anywhere sm:truncate xl:w-[420px]"
            >
              {workspace.name}
            </span>
            <span title={workspace.path} className="mono min-w-0 flex-1 truncate text-dim max-sm:hidden">
              {workspace.path}
            </span>
            <span className="shrink-0 text-xs text-dim">{workspace.is_adopted && "adopted"}</span>
            <Ago
              at={workspace.created_at}
              className="mono min-w-[72px] shrink-0 text-right text-faint max-sm:ml-auto"
            />
          </Link>
        </li>
      ))}
    </ul>
  );
}
