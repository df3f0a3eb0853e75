/** What is known of models: providers, roles, prices, budgets. Changing them is a matter of the settings. */
import { queryOptions } from "@tanstack/react-query";
import { http, unwrap } from "./client";
import type { Models } from "./types";

export const modelsQuery = queryOptions<Models>({
  queryKey: ["models"],
  queryFn: ({ signal }) => unwrap(http.GET("/api/v1/models", { signal })),
});
