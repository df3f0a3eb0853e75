import { clsx } from "clsx";
import { Check, CircleDashed, X } from "lucide-react";
import { Badge, Dot } from "@/ui/Badge";
import { count } from "@/ui/count";
import { SandboxBadge } from "@/ui/SandboxBadge";
import { Elapsed } from "@/ui/Time";
import { formatDuration } from "@/ui/time";
import { targetOf } from "./activity";
import type { ToolView } from "./fold";
import { Unfold, Verbatim } from "./Unfold";

const AS_TEXT = "The model wrote this call as text instead of using the API's tool calls.";

/** One tool call: target, result and duration; expanded, its input and output. */
export function ToolCall({ id, tool, isOver }: { id: string; tool: ToolView; isOver: boolean }) {
  const { used } = tool;
  const target = targetOf(tool);
  const said = used && summaryOf(used, target);
  return (
    <Unfold
      id={id}
      line={
        <>
          <State tool={tool} isOver={isOver} />
          <span className="min-w-0 flex-1">
            <span className="flex min-w-0 items-center gap-x-2 max-sm:flex-wrap">
              <span className="mono shrink-0 font-medium">{tool.name}</span>
              {target && <span className="mono min-w-0 truncate text-dim">{target}</span>}
              {said && !used.is_error && (
                <span className="max-w-[60%] shrink-0 truncate text-dim">{said}</span>
              )}
              {tool.as_text && (
                <span className="shrink-0 text-xs text-faint" title={AS_TEXT}>
                  written as text
                </span>
              )}
              {used && <Tests detail={used.detail} />}
              {used?.detail.sandbox && <SandboxBadge level={used.detail.sandbox} />}
            </span>
            {said && used.is_error && <span className="line-clamp-3 break-words text-bad">{said}</span>}
          </span>
          <Took tool={tool} isOver={isOver} />
        </>
      }
    >
      <Verbatim
        label="Input"
        of={id}
        text={tool.input ? inWords(tool.input) : "These arguments are not valid JSON."}
      />
      {used && (
        <Verbatim
          label="Output"
          of={id}
          text={used.text}
          note={used.detail.truncated ? "truncated: showing the beginning and the end" : undefined}
        />
      )}
      {used?.detail.fetched && used.detail.fetched.length > 0 && (
        <Verbatim label="Fetched from the registry" of={id} text={used.detail.fetched.join("\n")} />
      )}
    </Unfold>
  );
}

function State({ tool: { used, startedAt }, isOver }: { tool: ToolView; isOver: boolean }) {
  if (used) {
    const [Icon, word, ink] = used.is_error ? [X, "failed", "text-bad"] : [Check, "done", "text-ok"];
    return (
      <span className={clsx("grid size-4 shrink-0 place-items-center", ink)}>
        <Icon size={14} strokeWidth={2.5} aria-hidden />
        <span className="sr-only">{word}</span>
      </span>
    );
  }
  return (
    <span className="grid size-4 shrink-0 place-items-center text-faint">
      {startedAt && !isOver ? <Dot tone="run" /> : <CircleDashed size={13} aria-hidden />}
      <span className="sr-only">{isOver ? "stopped" : startedAt ? "running" : "queued"}</span>
    </span>
  );
}

function Took({ tool: { used, startedAt }, isOver }: { tool: ToolView; isOver: boolean }) {
  const shown = used
    ? formatDuration(used.duration_ms)
    : startedAt && !isOver && <Elapsed from={startedAt} />;
  return <span className="mono shrink-0 text-faint">{shown}</span>;
}

type Detail = NonNullable<ToolView["used"]>["detail"];

const hasTests = ({ passed, failed }: Detail): boolean => passed != null || failed != null;

function Tests({ detail }: { detail: Detail }) {
  if (!hasTests(detail)) return null;
  const { passed, failed, skipped } = detail;
  const words = [
    failed ? `${failed} failed` : null,
    passed != null ? `${passed} passed` : null,
    skipped ? `${skipped} skipped` : null,
  ];
  return <Badge tone={failed ? "bad" : "ok"}>{words.filter(Boolean).join(", ")}</Badge>;
}

/** The summary without what the line already shows. */
function summaryOf({ summary, detail }: NonNullable<ToolView["used"]>, target: string): string {
  if (hasTests(detail)) return detail.end === "exited" ? "" : summary;
  const known = [target, `'${target}'`].find((start) => target && summary.startsWith(start));
  const rest = summary.slice(known?.length ?? 0);
  return known && /^[,:] /.test(rest) ? rest.slice(2) : summary;
}

/** Format arguments for reading: a single one as is, several by name. */
function inWords(input: Record<string, unknown>): string {
  const given = Object.entries(input);
  const [only] = given;
  if (!only) return count(0, "argument");
  const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));
  if (given.length === 1) return text(only[1]);
  return given
    .map(([name, value]) => {
      const said = text(value);
      return said.includes("\n") ? `${name}:\n${said}` : `${name}: ${said}`;
    })
    .join("\n");
}
