/** Starting audits. Watching one is watching its run; the list of them is a list of runs. */
import { http, unwrap } from "./client";
import type { AuditBody, Run } from "./types";

export const AUDIT = "audit";

/** Whatever is left out is the server's own default. */
export function startAudit(body: Partial<AuditBody>): Promise<Run> {
  return unwrap(http.POST("/audit/run", { body: body as AuditBody }));
}
