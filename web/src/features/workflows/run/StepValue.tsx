import type { WorkflowStepDetail } from "@/api/types";
import { JsonView } from "@/ui/JsonView";
import { LogLines } from "@/ui/LogLines";
import { Markdown } from "@/ui/Markdown";

type Props = { value: unknown; name: string; none: string };

/** An input or output: a bot's answer as Markdown, and everything as JSON. */
export function Value({ value, name, none }: Props) {
  if (value === null || value === undefined) return <p className="text-dim">{none}</p>;
  const said = answerOf(value);
  return (
    <div className="space-y-3">
      {said && (
        <div className="max-h-96 overflow-auto rounded-md border border-line bg-bg p-3">
          <Markdown text={said} />
        </div>
      )}
      <JsonView value={value} name={name} />
    </div>
  );
}

function answerOf(value: unknown): string | null {
  if (typeof value !== "object" || value === null || !("type" in value) || value.type !== "agent")
    return null;
  return "response" in value && typeof value.response === "string" ? value.response : null;
}

export function StepLog({ lines }: { lines: WorkflowStepDetail["logs"] }) {
  if (lines.length === 0) return <p className="text-dim">No log.</p>;
  return <LogLines label="Step log" lines={lines} />;
}
