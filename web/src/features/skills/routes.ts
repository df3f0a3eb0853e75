import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { skillQuery } from "@/api/skills";
import { shellRoute } from "@/area";
import { readShelf } from "./library/shelf";
import { readPlace } from "./source/place";

export const skillsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/skills",
  validateSearch: readShelf,
  component: lazyRouteComponent(() => import("./library/LibraryPage"), "LibraryPage"),
});

/** `_new` is not a valid skill name. */
export const newSkillRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/skills/_new",
  component: lazyRouteComponent(() => import("./editor/NewSkillPage"), "NewSkillPage"),
});

export const editSkillRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/skills/$name/edit",
  loader: ({ context, params }) => context.queries.fetchQuery(skillQuery(params.name)),
  remountDeps: ({ params }) => params.name,
  component: lazyRouteComponent(() => import("./editor/EditSkillPage"), "EditSkillPage"),
});

const frameRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/skills/$name",
  loader: ({ context, params }) => context.queries.ensureQueryData(skillQuery(params.name)),
  remountDeps: ({ params }) => params.name,
  component: lazyRouteComponent(() => import("./page/SkillPage"), "SkillPage"),
});

const overviewRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/",
  component: lazyRouteComponent(() => import("./page/OverviewTab"), "OverviewTab"),
});

const sourceRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/source",
  validateSearch: readPlace,
  component: lazyRouteComponent(() => import("./source/SourceTab"), "SourceTab"),
});

const permissionsRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/permissions",
  component: lazyRouteComponent(() => import("./grants/PermissionsTab"), "PermissionsTab"),
});

const runsRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/runs",
  component: lazyRouteComponent(() => import("./run/RunsTab"), "RunsTab"),
});

const testsRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/tests",
  component: lazyRouteComponent(() => import("./testing/TestsTab"), "TestsTab"),
});

export const skillRoute = frameRoute.addChildren([
  overviewRoute,
  sourceRoute,
  permissionsRoute,
  runsRoute,
  testsRoute,
]);
