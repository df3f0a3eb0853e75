import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "@/area";

/** What the address says: that an audit is to be started. */
type Wish = { new?: true | undefined };

export const auditsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/audits",
  validateSearch: ({ new: wish }: Record<string, unknown>): Wish => ({
    new: wish === true ? true : undefined,
  }),
  component: lazyRouteComponent(() => import("./AuditsPage"), "AuditsPage"),
});
