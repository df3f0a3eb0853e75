/**
 * The contract between the shell and the areas. An area is a folder in `features/` that exports one `Area`: its pages,
 * its sidebar entry and its palette commands. `app/areas.ts` lists them all.
 */
import type { QueryClient } from "@tanstack/react-query";
import { type AnyRoute, createRootRouteWithContext, createRoute, redirect } from "@tanstack/react-router";
import type { ComponentType } from "react";
import { ApiError } from "@/api/client";
import { meQuery } from "@/api/session";

type Icon = ComponentType<{ size?: number; strokeWidth?: number }>;

export type ShellActions = { go: (to: string) => void; queries: QueryClient };

export type AreaCommand = {
  id: string;
  label: string;
  icon?: Icon;
  keywords?: string;
  /** The heading in the palette; default: the area's label. */
  group?: string;
  detail?: string;
  run: () => void;
};

export type Area = {
  label: string;
  routes: readonly AnyRoute[];
  /**
   * `key` is the letter after G. `useCount` returns how many things need attention. The pages of runs of this `kind`
   * belong to this area instead of "Runs".
   */
  nav: { to: string; icon: Icon; key: string; useCount?: () => number; kind?: string };
  /** Computed whenever the palette opens, so it can offer what is currently cached. */
  commands?: (shell: ShellActions) => AreaCommand[];
};

export const rootRoute = createRootRouteWithContext<{ queries: QueryClient }>()();

/** The parent of every page that requires a session. Its component is the shell. */
export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: "shell",
  beforeLoad: async ({ context, location }) => {
    try {
      await context.queries.ensureQueryData(meQuery);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) throw error;
      throw redirect({
        to: "/login",
        search: location.href === "/" ? {} : { next: location.href },
        replace: true,
      });
    }
  },
});
