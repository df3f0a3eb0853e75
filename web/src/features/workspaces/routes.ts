import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { workspaceQuery } from "@/api/workspaces";
import { shellRoute } from "@/area";
import { readPlace, readWish } from "./place";

export const workspacesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/workspaces",
  validateSearch: readWish,
  component: lazyRouteComponent(() => import("./WorkspacesPage"), "WorkspacesPage"),
});

export const workspaceRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/workspaces/$workspaceId",
  validateSearch: readPlace,
  loader: ({ context, params }) => context.queries.ensureQueryData(workspaceQuery(params.workspaceId)),
  remountDeps: ({ params }) => params.workspaceId,
  component: lazyRouteComponent(() => import("./WorkspacePage"), "WorkspacePage"),
});
