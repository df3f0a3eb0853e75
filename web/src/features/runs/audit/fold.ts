/**
 * The state of an audit, folded from its events: its checks in order, with their findings. Pure. A restarted audit, as
 * after a crash, starts from scratch.
 */
import type { AuditSummary, CheckResult, Event, EventOf, Finding } from "@/api/types";

/** A finished check; `total` includes findings that were not sent. */
export type EndedCheck = { result: CheckResult; findings: readonly Finding[]; total: number };

export type AuditView = {
  started: EventOf<"audit.started">["data"] | null;
  ended: ReadonlyMap<string, EndedCheck>;
  summary: AuditSummary | null;
  recorded: EventOf<"audit.recorded">["data"] | null;
};

export const NOT_STARTED: AuditView = { started: null, ended: new Map(), summary: null, recorded: null };

export function foldAudit(view: AuditView, events: readonly Event[]): AuditView {
  return events.reduce(apply, view);
}

function apply(view: AuditView, event: Event): AuditView {
  switch (event.type) {
    case "audit.started":
      return { ...NOT_STARTED, started: event.data };
    case "audit.check": {
      const { result, findings_total: total } = event.data;
      return withCheck(view, { result, findings: result.findings, total });
    }
    case "audit.findings": {
      const check = view.ended.get(event.data.code);
      return check
        ? withCheck(view, { ...check, findings: [...check.findings, ...event.data.findings] })
        : view;
    }
    case "audit.finished":
      return { ...view, summary: event.data.summary };
    case "audit.recorded":
      return { ...view, recorded: event.data };
    default:
      return view;
  }
}

const withCheck = (view: AuditView, check: EndedCheck): AuditView => ({
  ...view,
  ended: new Map(view.ended).set(check.result.code, check),
});

export type CheckRow =
  | { code: string; state: "ended"; check: EndedCheck }
  | { code: string; state: "running" | "queued" | "left" };

/** All checks in order. They run one at a time: the first unfinished one is running. */
export function rowsOf({ started, ended }: AuditView, isOver: boolean): CheckRow[] {
  const next = started?.checks.find((code) => !ended.has(code));
  return (started?.checks ?? []).map((code) => {
    const check = ended.get(code);
    if (check) return { code, state: "ended", check };
    return { code, state: isOver ? "left" : code === next ? "running" : "queued" };
  });
}
