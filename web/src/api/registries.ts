/** Registries: skill indexes that were added, and the skills they offer. */
import { queryOptions } from "@tanstack/react-query";
import { accepted, http, unwrap } from "./client";
import type { RegistryEntry, SkillRegistry } from "./types";

export const registriesQuery = queryOptions<SkillRegistry[]>({
  queryKey: ["registries"],
  queryFn: ({ signal }) => unwrap(http.GET("/api/v1/skill-registries", { signal })),
});

/** Searches the indexes cached on the server; nothing is downloaded. */
export function registrySearchQuery(words: string) {
  return queryOptions<RegistryEntry[]>({
    queryKey: ["registries", "search", words],
    queryFn: ({ signal }) =>
      unwrap(http.GET("/api/v1/skill-registries/search", { params: { query: { q: words } }, signal })),
  });
}

export function addRegistry(body: { name: string; url: string }): Promise<SkillRegistry> {
  return unwrap(http.POST("/api/v1/skill-registries", { body }));
}

const known = (registry: string) => ({ path: { registry } });

export function refreshRegistry(name: string): Promise<SkillRegistry> {
  return unwrap(http.POST("/api/v1/skill-registries/{registry}/refresh", { params: known(name) }));
}

export async function removeRegistry(name: string): Promise<void> {
  await accepted(http.DELETE("/api/v1/skill-registries/{registry}", { params: known(name) }));
}
