/**
 * What the shell and the areas agree on. An area is a folder in `features/` that exports one `Area`:
 * its pages, its place in the sidebar, its entries in the palette. `app/areas.ts` lists them all.
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
  /** A heading of its own in the palette; otherwise the area's name. */
  group?: string;
  detail?: string;
  run: () => void;
};

export type Area = {
  label: string;
  routes: readonly AnyRoute[];
  /**
   * `key` is the letter after G; `useCount` says how many things in the area wait for the person; runs of the `kind`
   * are at home in this area rather than among all runs.
   */
  nav: { to: string; icon: Icon; key: string; useCount?: () => number; kind?: string };
  /** Computed whenever the palette opens, so it may offer what is in the cache right now. */
  commands?: (shell: ShellActions) => AreaCommand[];
};

export const rootRoute = createRootRouteWithContext<{ queries: QueryClient }>()();

/** The parent of every page that needs a signed-in person. Its component is the shell itself. */
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
