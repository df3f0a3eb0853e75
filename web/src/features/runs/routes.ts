import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { runQuery } from "@/api/runs";
import { shellRoute } from "@/area";
import { readSearch } from "./search";

export const runsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/runs",
  validateSearch: readSearch,
  component: lazyRouteComponent(() => import("./RunsPage"), "RunsPage"),
});

export const runRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/runs/$runId",
  loader: ({ context, params }) => context.queries.ensureQueryData(runQuery(params.runId)),
  remountDeps: ({ params }) => params.runId,
  component: lazyRouteComponent(() => import("./RunPage"), "RunPage"),
});
