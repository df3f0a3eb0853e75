/** What a person fills in, and what the server is asked for. */
import type { AuditBody } from "@/api/types";

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
  ledger: false,
};

const lines = (text: string): string[] => listed(text.split("\n"));
const codes = (text: string): string[] => listed(text.split(/[\s,]+/)).map((code) => code.toUpperCase());
const listed = (parts: readonly string[]): string[] => parts.map((part) => part.trim()).filter(Boolean);

/** What is empty is left out: the server knows what is usual. */
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

export const isReady = ({ place, workspaceId }: Form): boolean => place === "folder" || workspaceId !== "";
