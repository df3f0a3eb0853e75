import "./app.css";
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiError } from "@/api/client";
import { LiveClient } from "@/api/live";
import { LiveContext } from "@/api/liveContext";
import { meQuery } from "@/api/session";
import { makeRouter } from "@/app/router";
import { Toaster } from "@/ui/Toaster";
import { toast } from "@/ui/toast";

const isSignedOut = (error: unknown): boolean => error instanceof ApiError && error.status === 401;

/** Forge may run on this machine, so the browser's online state does not matter. */
const NETWORK = "always";

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      networkMode: NETWORK,
      // Retry only network and server errors.
      retry: (failures, error) =>
        failures < 2 && error instanceof ApiError && (error.status === 0 || error.status >= 500),
    },
    mutations: { networkMode: NETWORK },
  },
  queryCache: new QueryCache({
    onError: (error, query) => {
      if (isSignedOut(error) && query.queryKey[0] !== meQuery.queryKey[0]) leave();
    },
  }),
  mutationCache: new MutationCache({
    onError: (error, _variables, _context, mutation) => {
      if (isSignedOut(error)) leave();
      if (!mutation.meta?.isShownInPlace) toast.error(error);
    },
  }),
});
const router = makeRouter(queries);
const live = new LiveClient({
  url: `${window.location.origin.replace(/^http/, "ws")}/ws`,
  onSignedOut: () => leave(),
});

/** The session ended: clear the cache, and return to this page after signing in. */
function leave(): void {
  const { href, pathname } = router.state.location;
  if (pathname === "/login") return;
  live.close();
  void router.navigate({ to: "/login", search: { next: href } }).then(() => queries.clear());
}

const root = document.getElementById("root");
if (!root) throw new Error("index.html has no #root element.");
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <LiveContext value={live}>
        <RouterProvider router={router} />
        <Toaster />
      </LiveContext>
    </QueryClientProvider>
  </StrictMode>,
);
