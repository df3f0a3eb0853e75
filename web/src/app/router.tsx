import type { QueryClient } from "@tanstack/react-query";
import { createRoute, createRouter } from "@tanstack/react-router";
import { rootRoute, shellRoute } from "@/area";
import { loginRoute } from "@/features/login/routes";
import { PendingPage } from "@/ui/Page";
import { SkeletonRows } from "@/ui/Skeleton";
import { AREAS } from "./areas";
import { NotFound } from "./NotFound";
import { Opening } from "./Opening";
import { RouteError, ShellError } from "./RouteError";
import { Shell } from "./Shell";

/** Unknown addresses are shown inside the shell, so that its navigation stays available. */
const unknownRoute = createRoute({ getParentRoute: () => shellRoute, path: "$", component: NotFound });

const pages = AREAS.flatMap((area) => [...area.routes]);
for (const page of pages) page.update({ pendingComponent: PendingPage });
const shell = shellRoute.update({ component: Shell, errorComponent: ShellError, pendingComponent: Opening });
const root = rootRoute.update({ pendingComponent: Opening });
const routeTree = root.addChildren([loginRoute, shell.addChildren([...pages, unknownRoute])]);

export function makeRouter(queries: QueryClient) {
  return createRouter({
    routeTree,
    context: { queries },
    defaultPreload: "intent",
    defaultPendingMs: 200,
    defaultPendingComponent: () => <SkeletonRows rows={8} label="Loading page" />,
    defaultErrorComponent: RouteError,
    defaultNotFoundComponent: NotFound,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }
}
