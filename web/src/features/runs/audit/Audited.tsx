import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { RunDetail, RunStatus, Verdict } from "@/api/types";
import { PartBadge } from "@/ui/audit/PartBadge";
import { partOf } from "@/ui/audit/part";
import { LargeVerdict } from "@/ui/audit/Verdict";
import { CopyButton } from "@/ui/CopyButton";
import { count } from "@/ui/count";
import { Disclosure } from "@/ui/Disclosure";
import { InlineText } from "@/ui/InlineText";
import { formatDuration } from "@/ui/time";
import { type Asked, askedOf } from "./asked";
import type { AuditView } from "./fold";

type Props = { detail: RunDetail; audit: AuditView; status: RunStatus; verdict: Verdict | null };

/** The verdict and what was audited: project, base, claimed files and checks. */
export function Audited({ detail, audit, status, verdict }: Props) {
  const asked = askedOf(detail);
  const part = partOf(asked);
  const problem = audit.recorded?.problem;
  return (
    <section aria-label="Audited" className="rounded-lg border border-line bg-surface">
      <div className="flex flex-wrap items-start gap-x-8 gap-y-3 p-3">
        <div className="flex items-center gap-3">
          <LargeVerdict verdict={verdict} status={status} />
          {part && <PartBadge part={part} />}
        </div>
        <dl className="flex min-w-0 flex-1 basis-[480px] flex-wrap gap-x-6 gap-y-2 max-sm:basis-full">
          <Place asked={asked} project={audit.summary?.project ?? asked.project} />
          {asked.phase && <Item name="Phase">{asked.phase}</Item>}
          <State asked={asked} audit={audit} />
          <Claims files={asked.claims} />
        </dl>
      </div>
      {problem && (
        <p role="status" className="wash-wait rounded-b-lg border-t px-3 py-2 break-words">
          <span className="mr-2 font-medium text-wait">No ledger entry</span>
          <InlineText text={problem} />
        </p>
      )}
    </section>
  );
}

function Place({ asked, project }: { asked: Asked; project: string }) {
  if (asked.workspaceId) {
    return (
      <Item name="Workspace">
        <Link
          to="/workspaces/$workspaceId"
          params={{ workspaceId: asked.workspaceId }}
          className="rounded-sm underline decoration-strong underline-offset-2 hover:decoration-ink"
        >
          {project}
        </Link>
      </Item>
    );
  }
  return (
    <Item name="Folder">
      <span className="mono break-all">{asked.path ?? project}</span>
    </Item>
  );
}

/** The audited state, or the requested base until it is known. */
function State({ asked, audit: { summary, recorded } }: { asked: Asked; audit: AuditView }) {
  if (!summary) return <Item name="Base">{asked.base ?? "the last commit"}</Item>;
  const { branch, head, base, tree, changed_files: changed, duration_ms: took } = summary;
  return (
    <>
      <Item name="Branch">{branch ? <span className="mono break-all">{branch}</span> : "none"}</Item>
      <Item name="HEAD">{head ? <Id of={head} what="HEAD" /> : "no commit yet"}</Item>
      <Item name="Base">{base ? <Id of={base} what="the base" /> : "none (everything is new)"}</Item>
      <Item name="Tree">
        <Id of={tree} what="the tree" />
      </Item>
      <Item name="Changed">{count(changed, "file")}</Item>
      <Item name="Check duration">{formatDuration(took)}</Item>
      {recorded?.entry && <Item name="Ledger">entry {recorded.entry}</Item>}
    </>
  );
}

function Claims({ files }: { files: readonly string[] | null }) {
  if (files === null) return <Item name="Claimed">nothing</Item>;
  return (
    <Item name="Claimed">
      <Disclosure title={count(files.length, "file")}>
        <ul aria-label="Claimed files" className="mono max-h-40 overflow-auto break-all">
          {files.map((file) => (
            <li key={file}>{file}</li>
          ))}
        </ul>
      </Disclosure>
    </Item>
  );
}

function Item({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-dim">{name}</dt>
      <dd className="flex min-h-7 min-w-0 items-center break-words">{children}</dd>
    </div>
  );
}

const SHORT = 10;

function Id({ of, what }: { of: string; what: string }) {
  return (
    <span className="flex items-center gap-1">
      <span title={of} className="mono">
        {of.slice(0, SHORT)}
      </span>
      <CopyButton text={of} label={`Copy ${what}`} iconOnly />
    </span>
  );
}
