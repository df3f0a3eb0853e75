import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "@/area";

/** `new` opens the dialog to start an audit. */
type Wish = { new?: true | undefined };

export const auditsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/audits",
  validateSearch: ({ new: wish }: Record<string, unknown>): Wish => ({
    new: wish === true ? true : undefined,
  }),
  component: lazyRouteComponent(() => import("./AuditsPage"), "AuditsPage"),
});
