import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { workflowRunQuery } from "@/api/workflowRuns";
import { workflowQuery } from "@/api/workflows";
import { shellRoute } from "@/area";
import { readShelf } from "./list/shelf";
import { readPair } from "./page/pair";

export const workflowsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/workflows",
  validateSearch: readShelf,
  component: lazyRouteComponent(() => import("./list/WorkflowsPage"), "WorkflowsPage"),
});

export const newWorkflowRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/workflows/new",
  validateSearch: ({ template }: Record<string, unknown>): { template?: string | undefined } => ({
    template: typeof template === "string" ? template : undefined,
  }),
  component: lazyRouteComponent(() => import("./editor/NewWorkflowPage"), "NewWorkflowPage"),
});

export const editWorkflowRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/workflows/$ref/edit",
  loader: ({ context, params }) => context.queries.fetchQuery(workflowQuery(params.ref)),
  remountDeps: ({ params }) => params.ref,
  component: lazyRouteComponent(() => import("./editor/EditWorkflowPage"), "EditWorkflowPage"),
});

export const workflowRunRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/workflows/runs/$runId",
  loader: ({ context, params }) => context.queries.ensureQueryData(workflowRunQuery(params.runId)),
  remountDeps: ({ params }) => params.runId,
  component: lazyRouteComponent(() => import("./run/RunPage"), "RunPage"),
});

const frameRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/workflows/$ref",
  loader: ({ context, params }) => context.queries.ensureQueryData(workflowQuery(params.ref)),
  remountDeps: ({ params }) => params.ref,
  component: lazyRouteComponent(() => import("./page/WorkflowPage"), "WorkflowPage"),
});

const overviewRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/",
  component: lazyRouteComponent(() => import("./page/OverviewTab"), "OverviewTab"),
});

const runsRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/runs",
  component: lazyRouteComponent(() => import("./page/RunsTab"), "RunsTab"),
});

const versionsRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/versions",
  validateSearch: readPair,
  component: lazyRouteComponent(() => import("./page/VersionsTab"), "VersionsTab"),
});

export const workflowRoute = frameRoute.addChildren([overviewRoute, runsRoute, versionsRoute]);
