/** The form to start an audit, and the request made from it. */
import type { AuditBody, AuditRoots } from "@/api/types";

export type Form = {
  place: "workspace" | "folder";
  workspaceId: string;
  path: string;
  phase: string;
  claims: string;
  base: string;
  only: string;
  evidence: boolean;
  summary: string;
  ledger: boolean;
};

export const BLANK: Form = {
  place: "folder",
  workspaceId: "",
  path: "",
  phase: "",
  claims: "",
  base: "",
  only: "",
  evidence: false,
  summary: "",
  ledger: true,
};

const lines = (text: string): string[] => listed(text.split("\n"));
const codes = (text: string): string[] => listed(text.split(/[\s,]+/)).map((code) => code.toUpperCase());
const listed = (parts: readonly string[]): string[] => parts.map((part) => part.trim()).filter(Boolean);

/** Omits empty fields, so that the server's defaults apply. */
export function bodyOf(form: Form): Partial<AuditBody> {
  const { place, workspaceId, evidence, ledger } = form;
  const [path, phase, base, claims] = [
    form.path.trim(),
    form.phase.trim(),
    form.base.trim(),
    lines(form.claims),
  ];
  return {
    ...(place === "workspace" ? { workspace_id: workspaceId } : path && { path }),
    ...(phase && { phase }),
    ...(base && { base }),
    ...(claims.length > 0 && { claimed_files: claims }),
    only: codes(form.only),
    evidence,
    ...(evidence && form.summary.trim() && { summary: form.summary.trim() }),
    ledger,
  };
}

/** `hasStart`: the server has a default folder. */
export const isReady = ({ place, workspaceId, path }: Form, hasStart = true): boolean =>
  place === "folder" ? hasStart || path.trim() !== "" : workspaceId !== "";

/** Describe which folders may be audited. */
export function allowance(allowed: AuditRoots | undefined): string {
  if (!allowed) return "A git repository allowed by the server's settings.";
  const { roots, start } = allowed;
  if (roots.length === 0) return "FORGE_AUDIT_ROOTS is empty, so only workspaces can be audited.";
  const where = `A git repository in ${roots.map((root) => `\`${root}\``).join(" or ")}`;
  return start ? `${where}. Default: \`${start}\`.` : `${where}.`;
}

/** When an audit is recorded in the ledger; the same rule as in the CLI and the API. */
export const recording = ({ only }: Form): string =>
  only.trim()
    ? "Not available with a subset of the checks: the entry would look like a full audit."
    : "Recorded when the project keeps contracts or files are claimed.";
