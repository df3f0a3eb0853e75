import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "@/area";

/** A path on this server, and nothing that a browser would take for another one. */
const isOwnPath = (value: unknown): value is string =>
  typeof value === "string" && /^\/(?![/\\])/.test(value);

/** `next` is where the person wanted to go. Named even when refused: a key left out would keep its raw value. */
export const loginRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/login",
  validateSearch: ({ next }: Record<string, unknown>): { next?: string | undefined } => ({
    next: isOwnPath(next) ? next : undefined,
  }),
  component: lazyRouteComponent(() => import("./LoginPage"), "LoginPage"),
});
