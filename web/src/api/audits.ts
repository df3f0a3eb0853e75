/** Start audits. An audit is a run: its progress and the list of audits come from the runs API. */
import { queryOptions } from "@tanstack/react-query";
import { http, unwrap } from "./client";
import type { AuditBody, AuditRoots, Run } from "./types";

export const AUDIT = "audit";

/** Directories on the server that may be audited. */
export const auditRootsQuery = queryOptions<AuditRoots>({
  queryKey: ["audit roots"],
  queryFn: ({ signal }) => unwrap(http.GET("/audit/roots", { signal })),
});

/** Omitted fields use the server's defaults. */
export function startAudit(body: Partial<AuditBody>): Promise<Run> {
  return unwrap(http.POST("/audit/run", { body: body as AuditBody }));
}
