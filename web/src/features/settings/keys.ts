import { queryOptions } from "@tanstack/react-query";
import { accepted, http, unwrap } from "@/api/client";
import type { ApiKey, Scope } from "@/api/types";

export const keysQuery = queryOptions<ApiKey[]>({
  queryKey: ["keys"],
  queryFn: ({ signal }) => unwrap(http.GET("/api/v1/keys", { signal })),
});

/** `key` is the complete key; the server shows it only once. */
export function createKey(key: { name: string; scopes: Scope[] }): Promise<{ key: string; api_key: ApiKey }> {
  return unwrap(http.POST("/api/v1/keys", { body: key }));
}

export async function revokeKey({ id }: ApiKey): Promise<void> {
  await accepted(http.DELETE("/api/v1/keys/{key_id}", { params: { path: { key_id: id } } }));
}
