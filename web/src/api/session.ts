/** The signed-in account, sign-in and sign-out. */
import { queryOptions, useQuery } from "@tanstack/react-query";
import { accepted, http, unwrap } from "./client";
import type { Account, Me } from "./types";

export const meQuery = queryOptions<Me>({
  queryKey: ["me"],
  queryFn: ({ signal }) => unwrap(http.GET("/api/v1/me", { signal })),
  staleTime: Number.POSITIVE_INFINITY,
  retry: false,
});

export function useMe(): Me | undefined {
  return useQuery(meQuery).data;
}

export function signIn(token: string): Promise<Account> {
  return unwrap(http.POST("/api/v1/login", { body: { token } }));
}

export async function signOut(): Promise<void> {
  await accepted(http.POST("/api/v1/logout"));
}

export function rename(name: string): Promise<Account> {
  return unwrap(http.PATCH("/api/v1/me", { body: { name } }));
}
