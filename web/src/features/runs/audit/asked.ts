/** What an audit was asked to check, from the input of its run. */
import type { RunDetail } from "@/api/types";

export type Asked = {
  project: string;
  workspaceId: string | null;
  path: string | null;
  phase: string | null;
  base: string | null;
  /** null if no claim was made. */
  claims: readonly string[] | null;
  only: string[];
  file: string | null;
};

const text = (value: unknown): string | null => (typeof value === "string" && value ? value : null);
const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];

export function askedOf({ input }: RunDetail): Asked {
  const request = (input.request ?? {}) as Record<string, unknown>;
  const phase = text(request.phase);
  return {
    project: text(input.project) ?? "",
    workspaceId: text(input.workspace_id),
    path: text(input.path),
    phase: phase === "unknown" ? null : phase,
    base: text(request.base),
    claims: Array.isArray(request.claimed_files) ? [...new Set(texts(request.claimed_files))] : null,
    only: texts(request.only),
    file: text(request.file),
  };
}
