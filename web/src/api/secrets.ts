/** The names of the secrets in the vault, never their values. */
import { queryOptions } from "@tanstack/react-query";
import { accepted, http, unwrap } from "./client";
import type { Secret } from "./types";

export const secretsQuery = queryOptions<Secret[]>({
  queryKey: ["secrets"],
  queryFn: ({ signal }) => unwrap(http.GET("/api/v1/secrets", { signal })),
});

export type NewSecret = { name: string; scope: string; value: string };

export function putSecret({ name, ...body }: NewSecret): Promise<Secret> {
  return unwrap(http.PUT("/api/v1/secrets/{name}", { params: { path: { name } }, body }));
}

export async function removeSecret({ name, scope }: Secret): Promise<void> {
  await accepted(http.DELETE("/api/v1/secrets/{name}", { params: { path: { name }, query: { scope } } }));
}
