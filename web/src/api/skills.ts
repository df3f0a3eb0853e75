/** Skill queries, mutations, and the cache invalidation that goes with them. */
import { infiniteQueryOptions, type QueryClient, queryOptions } from "@tanstack/react-query";
import { accepted, http, type Page, unwrap, unwrapPage } from "./client";
import type {
  EventOf,
  SkillCapability,
  SkillCard,
  SkillDetail,
  SkillFileContent,
  SkillFrame,
  SkillGrantWish,
  SkillRan,
  SkillRun,
  SkillTestReport,
  SkillTier,
  SkillValidation,
} from "./types";

/** All skills; pages filter the list locally, so that filters apply immediately. */
export const skillsQuery = queryOptions<SkillCard[]>({
  queryKey: ["skills"],
  queryFn: ({ signal }) => unwrap(http.GET("/api/v1/skills", { signal })),
});

const named = (name: string) => ({ path: { name } });

/** All queries about one skill share the key prefix `["skill", name]`. */
export function skillQuery(name: string) {
  return queryOptions<SkillDetail>({
    queryKey: ["skill", name],
    queryFn: ({ signal }) => unwrap(http.GET("/api/v1/skills/{name}", { params: named(name), signal })),
  });
}

/** The folder hash is part of the key because a changed folder has other contents. */
export function skillFileQuery(name: string, path: string, folderHash: string) {
  return queryOptions<SkillFileContent>({
    queryKey: ["skill", name, "file", path, folderHash],
    queryFn: ({ signal }) =>
      unwrap(http.GET("/api/v1/skills/{name}/files/{path}", { params: { path: { name, path } }, signal })),
  });
}

const RUNS_A_PAGE = 50;

export function skillRunsQuery(name: string) {
  return infiniteQueryOptions({
    queryKey: ["skill", name, "runs"],
    queryFn: ({ signal, pageParam }) => {
      const query = { limit: RUNS_A_PAGE, ...(pageParam && { cursor: pageParam }) };
      return unwrapPage<SkillRun>(
        http.GET("/api/v1/skills/{name}/runs", { params: { ...named(name), query }, signal }),
      );
    },
    initialPageParam: null as string | null,
    getNextPageParam: (last: Page<SkillRun>) => last.nextCursor,
  });
}

/** A skill in the editor: its text files by path. */
export type Written = { name: string; files: Record<string, string> };

/** Return the initial files of a new skill, without saving anything. */
export function frameSkill(body: SkillFrame): Promise<Written> {
  return unwrap(http.POST("/api/v1/skills/frame", { body }));
}

export function createSkill(body: Written): Promise<SkillDetail> {
  return unwrap(http.POST("/api/v1/skills", { body }));
}

/** `base_hash` is the hash of the folder that was edited; 409 if it has changed. */
export function saveSkill({ name, ...body }: Written & { base_hash: string }): Promise<SkillDetail> {
  return unwrap(http.PUT("/api/v1/skills/{name}", { params: named(name), body }));
}

export function validateSkill(body: Written, signal?: AbortSignal): Promise<SkillValidation> {
  return unwrap(http.POST("/api/v1/skills/validate", { body, ...(signal && { signal }) }));
}

/** Run the skill without saving it and without any grants. */
export function trySkill(body: Written & { input: Record<string, unknown> }): Promise<SkillRan> {
  return unwrap(http.POST("/api/v1/skills/try", { body }));
}

type RunWish = { name: string; input: Record<string, unknown>; bot: string | null };

export function runSkill({ name, input, bot }: RunWish): Promise<SkillRan> {
  const body = { input, bot, purpose: "web" as const };
  return unwrap(http.POST("/api/v1/skills/{name}/run", { params: named(name), body }));
}

export function testSkill({ name, triggers }: { name: string; triggers: boolean }): Promise<SkillTestReport> {
  return unwrap(http.POST("/api/v1/skills/{name}/test", { params: named(name), body: { triggers } }));
}

type Granted = { name: string; grants: SkillGrantWish[]; folder_hash: string };

/** Replace all grants; a capability that is not listed is revoked. */
export function grantSkill({ name, ...body }: Granted): Promise<SkillDetail> {
  return unwrap(http.PUT("/api/v1/skills/{name}/grants", { params: named(name), body }));
}

type Revoked = { name: string; capability: SkillCapability };

export function revokeSkill({ name, capability }: Revoked): Promise<SkillDetail> {
  const params = { path: { name, capability } };
  return unwrap(http.DELETE("/api/v1/skills/{name}/grants/{capability}", { params }));
}

export function setSkillTier({ name, tier }: { name: string; tier: SkillTier }): Promise<SkillDetail> {
  return unwrap(http.PUT("/api/v1/skills/{name}/tier", { params: named(name), body: { tier } }));
}

export function removeSkill({ name, force }: { name: string; force: boolean }): Promise<SkillCard> {
  const params = { ...named(name), query: { force } };
  return unwrap(http.DELETE("/api/v1/skills/{name}", { params }));
}

export async function exportSkill(name: string): Promise<Blob> {
  const call = http.GET("/api/v1/skills/{name}/export", { params: named(name), parseAs: "blob" });
  return accepted<Blob>(call);
}

/** Refetch the run log after a run. */
export function refreshRuns(cache: QueryClient, skill: string): void {
  void cache.invalidateQueries({ queryKey: skillRunsQuery(skill).queryKey });
}

type Changed = EventOf<"skill.changed">["data"];

/** Invalidate the queries that show a changed skill. */
export function refreshSkill(cache: QueryClient, { skill }: Changed): void {
  void cache.invalidateQueries({ queryKey: skillsQuery.queryKey });
  void cache.invalidateQueries({ queryKey: skillQuery(skill).queryKey, exact: true });
  void cache.invalidateQueries({
    predicate: ({ queryKey: [of, , what] }) => of === "bot" && what === "skills",
  });
}
