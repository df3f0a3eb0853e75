import type { AuditSummary } from "@/api/types";

const MAX_NAMED = 4;

/** "A9 only": a verdict about a part must never be taken for one about the whole. null when it is about the whole. */
export function partOf({ only = [], file }: Partial<Pick<AuditSummary, "only" | "file">>): string | null {
  const checks = only.length > MAX_NAMED ? `${only.length} checks` : only.join(" ");
  const parts = [checks, file].filter(Boolean);
  return parts.length > 0 ? `${parts.join(" in ")} only` : null;
}
