import type { ReactNode } from "react";
import type { SkillRan, SkillRun } from "@/api/types";
import { Badge } from "@/ui/Badge";
import { formatBytes } from "@/ui/bytes";
import { Code } from "@/ui/Code";
import { InlineText } from "@/ui/InlineText";
import { writtenOut } from "@/ui/json";
import { LogLines } from "@/ui/LogLines";
import { Markdown } from "@/ui/Markdown";
import { formatMicros, formatTokens } from "@/ui/money";
import { SandboxBadge } from "@/ui/SandboxBadge";
import { formatDuration } from "@/ui/time";
import { CAPABILITIES } from "../words";
import { ENDS } from "./ends";

/** The result of a run: output, log and resources. */
export function RunResult({ ran }: { ran: SkillRan }) {
  const { word, tone, meaning } = ENDS[ran.end];
  return (
    <section aria-label="Result" className="space-y-3">
      <div role="status" className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <Badge tone={tone}>{word}</Badge>
        <span className="text-dim">
          <InlineText text={meaning} />
        </span>
        {ran.sandbox && <SandboxBadge level={ran.sandbox} />}
      </div>
      {ran.error && (
        <pre
          tabIndex={0}
          className="mono wash-bad max-h-48 overflow-auto rounded-md border px-2.5 py-2 break-words whitespace-pre-wrap"
        >
          {ran.error}
        </pre>
      )}
      {ran.end === "done" && <Output ran={ran} />}
      <Logs lines={ran.logs} />
      <Measures run={ran} cost={ran.cost_micros} />
    </section>
  );
}

/** Render text as Markdown and everything else as JSON. */
function Output({ ran: { kind, output } }: { ran: SkillRan }) {
  if (kind === "prompt" && typeof output === "string") {
    return (
      <div className="rounded-md border border-line bg-bg p-3">
        <Markdown text={output} />
      </div>
    );
  }
  return typeof output === "string" ? (
    <Code text={output} language="text" isWrapped />
  ) : (
    <Code text={writtenOut(output)} language="json" />
  );
}

export function Logs({ lines }: { lines: SkillRun["logs"] }) {
  if (lines.length === 0) return null;
  return (
    <section aria-label="Log">
      <p className="mb-1 text-xs font-semibold text-dim">Log</p>
      <LogLines label="Log" lines={lines.map(({ level, message }) => ({ level, text: message }))} />
    </section>
  );
}

function Measures({ run, cost = 0 }: { run: SkillRun; cost?: number }) {
  return (
    <dl className="flex flex-wrap gap-x-5 gap-y-1 text-xs">
      <Measure name="Time">{formatDuration(run.duration_ms)}</Measure>
      {run.fuel != null && <Measure name="Fuel">{formatTokens(run.fuel)}</Measure>}
      {run.memory_bytes != null && <Measure name="Memory">{formatBytes(run.memory_bytes)}</Measure>}
      {cost > 0 && <Measure name="Cost">{formatMicros(cost)}</Measure>}
      <Measure name="Used">{usedOf(run) || "nothing"}</Measure>
    </dl>
  );
}

function Measure({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex gap-1.5">
      <dt className="text-dim">{name}</dt>
      <dd className="mono">{children}</dd>
    </div>
  );
}

/** `read files ×2, keep notes`. */
export function usedOf({ capabilities_used: used }: SkillRun): string {
  return Object.entries(used)
    .map(([capability, times]) => {
      const word = CAPABILITIES[capability as keyof typeof CAPABILITIES]?.word ?? capability;
      return times > 1 ? `${word} ×${times}` : word;
    })
    .join(", ");
}
