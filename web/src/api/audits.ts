/** Starting audits. Watching one is watching its run; the list of them is a list of runs. */
import { queryOptions } from "@tanstack/react-query";
import { http, unwrap } from "./client";
import type { AuditBody, AuditRoots, Run } from "./types";

export const AUDIT = "audit";

/** The folders of the server that may be audited. */
export const auditRootsQuery = queryOptions<AuditRoots>({
  queryKey: ["audit roots"],
  queryFn: ({ signal }) => unwrap(http.GET("/audit/roots", { signal })),
});

/** Whatever is left out is the server's own default. */
export function startAudit(body: Partial<AuditBody>): Promise<Run> {
  return unwrap(http.POST("/audit/run", { body: body as AuditBody }));
}
