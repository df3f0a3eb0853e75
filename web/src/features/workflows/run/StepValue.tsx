import { clsx } from "clsx";
import type { WorkflowStepDetail } from "@/api/types";
import { JsonView } from "@/ui/JsonView";
import { Markdown } from "@/ui/Markdown";
import { INK, type Tone } from "@/ui/tone";

type Props = { value: unknown; name: string; none: string };

/** What went in or came out. What a bot said is for reading; everything is there as JSON. */
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

const LEVELS: Record<WorkflowStepDetail["logs"][number]["level"], Tone> = {
  debug: "idle",
  info: "idle",
  warn: "wait",
  error: "bad",
};

export function StepLog({ lines }: { lines: WorkflowStepDetail["logs"] }) {
  if (lines.length === 0) return <p className="text-dim">It wrote nothing down.</p>;
  return (
    <ol
      tabIndex={0}
      aria-label="Log of the step"
      className="mono max-h-96 overflow-auto rounded-md border border-line bg-bg py-1"
    >
      {lines.map(({ level, text }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines are only ever added
        <li key={at} className="flex gap-3 px-2.5 leading-[18px]">
          <span className={clsx("w-10 shrink-0", INK[LEVELS[level]])}>{level}</span>
          <span className="min-w-0 break-words whitespace-pre-wrap">{text}</span>
        </li>
      ))}
    </ol>
  );
}
