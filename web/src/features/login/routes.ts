import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "@/area";

/** A path on this server. Rejects what a browser would resolve to another host. */
const isOwnPath = (value: unknown): value is string =>
  typeof value === "string" && /^\/(?![/\\])/.test(value);

/**
 * `next` is the page to return to. It is set even if rejected, because the router keeps the raw value of a missing key.
 */
export const loginRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/login",
  validateSearch: ({ next }: Record<string, unknown>): { next?: string | undefined } => ({
    next: isOwnPath(next) ? next : undefined,
  }),
  component: lazyRouteComponent(() => import("./LoginPage"), "LoginPage"),
});
