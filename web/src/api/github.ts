/** Signing in with GitHub, and the connection of the account to GitHub. */
import { queryOptions } from "@tanstack/react-query";
import { http, unwrap } from "./client";
import type { GithubConfiguration, GithubConnection } from "./types";

export const githubConfigurationQuery = queryOptions<GithubConfiguration>({
  queryKey: ["github", "configuration"],
  queryFn: ({ signal }) => unwrap(http.GET("/api/v1/auth/configuration", { signal })),
  staleTime: Number.POSITIVE_INFINITY,
});

export const githubQuery = queryOptions<GithubConnection>({
  queryKey: ["github", "connection"],
  queryFn: ({ signal }) => unwrap(http.GET("/api/v1/github", { signal })),
});

/** Leave for GitHub; it sends the browser back signed in. */
export async function signInWithGithub(invitation: string | null): Promise<void> {
  const header = invitation ? { "X-Forge-Invitation": invitation } : {};
  const { redirect_url } = await unwrap(http.GET("/api/v1/auth/github", { params: { header } }));
  window.location.assign(redirect_url);
}

export async function connectGithub(): Promise<void> {
  const { redirect_url } = await unwrap(http.POST("/api/v1/github/connect"));
  window.location.assign(redirect_url);
}

export function saveGithubToken(token: string): Promise<GithubConnection> {
  return unwrap(http.PUT("/api/v1/github/token", { body: { token } }));
}

export function deleteGithubToken(): Promise<GithubConnection> {
  return unwrap(http.DELETE("/api/v1/github/token"));
}
