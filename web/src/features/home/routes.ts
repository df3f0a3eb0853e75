import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "@/area";

export const homeRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/",
  component: lazyRouteComponent(() => import("./HomePage"), "HomePage"),
});
