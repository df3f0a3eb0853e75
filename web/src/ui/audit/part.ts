import type { AuditSummary } from "@/api/types";

const MAX_NAMED = 4;

/** "A9 only": a partial verdict must not be mistaken for a complete one. null for a complete audit. */
export function partOf({ only = [], file }: Partial<Pick<AuditSummary, "only" | "file">>): string | null {
  const checks = only.length > MAX_NAMED ? `${only.length} checks` : only.join(" ");
  const parts = [checks, file].filter(Boolean);
  return parts.length > 0 ? `${parts.join(" in ")} only` : null;
}
