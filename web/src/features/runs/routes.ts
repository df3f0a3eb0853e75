import { createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { runQuery } from "@/api/runs";
import { WORKFLOW } from "@/api/workflows";
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
  loader: async ({ context, params }) => {
    const detail = await context.queries.ensureQueryData(runQuery(params.runId));
    // Links that only know the ID, such as those of questions, come here first.
    if (detail.run.kind === WORKFLOW) {
      throw redirect({ to: "/workflows/runs/$runId", params, replace: true });
    }
    return detail;
  },
  remountDeps: ({ params }) => params.runId,
  component: lazyRouteComponent(() => import("./RunPage"), "RunPage"),
});
