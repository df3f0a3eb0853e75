/** Providers, roles, prices and budgets of models. The mutations are in the settings. */
import { queryOptions } from "@tanstack/react-query";
import { http, unwrap } from "./client";
import type { Models } from "./types";

export const modelsQuery = queryOptions<Models>({
  queryKey: ["models"],
  queryFn: ({ signal }) => unwrap(http.GET("/api/v1/models", { signal })),
});
