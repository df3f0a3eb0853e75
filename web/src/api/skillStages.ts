/** Install skills in two requests: the first fetches them into a stage, the second installs from it. */
import { accepted, http, unwrap } from "./client";
import type { InstalledSkill, InstallWish, SkillSource, StagedSkills } from "./types";

export function fetchSkills(source: SkillSource): Promise<StagedSkills> {
  return unwrap(http.POST("/api/v1/skill-stages", { body: { source } }));
}

/** `folder` is the name of a folder that was packed in the browser; empty for an existing archive. */
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

/** Fetch an installed skill again from its source. */
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
