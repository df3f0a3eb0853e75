import { queryOptions } from "@tanstack/react-query";
import { accepted, http, unwrap } from "./client";
import type { SystemStatus } from "./types";

export const statusQuery = queryOptions<SystemStatus>({
  queryKey: ["status"],
  queryFn: ({ signal }) => unwrap(http.GET("/api/v1/status", { signal })),
  refetchInterval: 15_000,
});

/** Health responses have no envelope because probes read them too. */
export const versionQuery = queryOptions<string>({
  queryKey: ["version"],
  queryFn: async ({ signal }) => (await accepted(http.GET("/health/version", { signal }))).version,
  staleTime: Number.POSITIVE_INFINITY,
});
