import type { AuditBody, RunDetail } from "@/api/types";

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

/** The request that repeats an audit. */
export function sameAudit({ input }: RunDetail): Partial<AuditBody> {
  const { workspace_id, path, evidence, summary, request } = input;
  const asked = isObject(request) ? request : {};
  const place = workspace_id ? { workspace_id } : { path };
  return { ...asked, ...place, evidence, summary } as Partial<AuditBody>;
}
