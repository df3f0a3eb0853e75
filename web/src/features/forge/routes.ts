import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { interviewQuery } from "@/api/builder";
import { shellRoute } from "@/area";
import { KINDS, type Kind } from "./start/wish";

/** `mode` preselects what to create. */
type Search = { mode?: Kind | undefined };

export const startRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/forge",
  validateSearch: ({ mode }: Record<string, unknown>): Search => ({
    mode: KINDS.find((kind) => kind === mode),
  }),
  component: lazyRouteComponent(() => import("./start/StartPage"), "StartPage"),
});

export const interviewRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/forge/$sessionId",
  loader: ({ context, params }) => context.queries.fetchQuery(interviewQuery(params.sessionId)),
  remountDeps: ({ params }) => params.sessionId,
  component: lazyRouteComponent(() => import("./session/InterviewPage"), "InterviewPage"),
  errorComponent: lazyRouteComponent(() => import("./session/Unreadable"), "Unreadable"),
});
