/** Getting skills in: what was fetched waits as a stage, and is installed by a second request. */
import { accepted, http, unwrap } from "./client";
import type { InstalledSkill, InstallWish, SkillSource, StagedSkills } from "./types";

export function fetchSkills(source: SkillSource): Promise<StagedSkills> {
  return unwrap(http.POST("/api/v1/skill-stages", { body: { source } }));
}

/** `folder` is the one it was packed from in the browser; empty for an archive somebody had. */
export type Archive = { name: string; folder: string; data: Blob };

export function uploadSkills({ name, folder, data }: Archive): Promise<StagedSkills> {
  return unwrap(
    http.POST("/api/v1/skill-stages/zip", {
      params: { query: { name, folder } },
      headers: { "Content-Type": "application/zip" },
      body: data as never,
      bodySerializer: (body: unknown) => body as Blob,
    }),
  );
}

/** Fetches an installed skill again from where it came from. */
export function fetchUpdate(name: string): Promise<StagedSkills> {
  return unwrap(http.POST("/api/v1/skills/{name}/update", { params: { path: { name } } }));
}

export function installSkills({
  stage,
  ...body
}: InstallWish & { stage: string }): Promise<InstalledSkill[]> {
  return unwrap(http.POST("/api/v1/skill-stages/{stage}/install", { params: { path: { stage } }, body }));
}

export async function dropStage(stage: string): Promise<void> {
  await accepted(http.DELETE("/api/v1/skill-stages/{stage}", { params: { path: { stage } } }));
}
