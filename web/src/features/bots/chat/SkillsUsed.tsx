import { Link } from "@tanstack/react-router";
import { BookOpenText, FileText, type LucideIcon, Play } from "lucide-react";
import type { ChatMessage } from "@/api/types";
import { Dot } from "@/ui/Badge";
import { Elapsed } from "@/ui/Time";
import { formatDuration } from "@/ui/time";
import { INK, type Tone } from "@/ui/tone";

type Use = NonNullable<ChatMessage["answer"]>["skills_used"][number];

const HOW: Record<Use["how"], { word: string; icon: LucideIcon }> = {
  opened: { word: "opened", icon: BookOpenText },
  read: { word: "read", icon: FileText },
  ran: { word: "ran", icon: Play },
};
const STATES: Record<Use["state"], { word: string; tone: Tone }> = {
  running: { word: "running", tone: "run" },
  done: { word: "ok", tone: "ok" },
  failed: { word: "failed", tone: "bad" },
  stopped: { word: "stopped", tone: "wait" },
};

/** Whether a skill is running before any text was written. */
export const isUsing = ({ answer }: ChatMessage): boolean =>
  answer?.skills_used.some(({ state }) => state === "running") ?? false;

/** The skill calls of this answer, each with its input and output. */
export function SkillsUsed({ uses, isWriting }: { uses: readonly Use[]; isWriting: boolean }) {
  if (uses.length === 0) return null;
  return (
    <ul aria-label="Skills used" className="flex flex-wrap items-start gap-1.5 text-xs">
      {uses.map((use) => (
        <li key={use.id} className="max-w-full min-w-0 has-[details[open]]:w-full">
          <Chip use={use.state === "running" && !isWriting ? { ...use, state: "stopped" } : use} />
        </li>
      ))}
    </ul>
  );
}

function Chip({ use }: { use: Use }) {
  const { icon: Icon, word } = HOW[use.how];
  const state = STATES[use.state];
  return (
    <details className="min-w-0 rounded-md border border-line bg-raised text-dim open:bg-surface">
      <summary className="flex min-h-6 w-fit max-w-full cursor-pointer items-center gap-1.5 rounded-md px-2 hover:text-ink">
        <Icon size={11} aria-hidden className="shrink-0" />
        <span className="shrink-0">{word}</span>
        <span className="mono truncate font-medium text-ink">{use.skill}</span>
        <span className={`inline-flex shrink-0 items-center gap-1 ${INK[state.tone]}`}>
          <Dot tone={state.tone} className="size-1.5" /> {state.word}
        </span>
        <span className="mono shrink-0 text-faint">
          {use.state === "running" ? (
            <Elapsed from={use.started_at} />
          ) : (
            use.duration_ms != null && formatDuration(use.duration_ms)
          )}
        </span>
      </summary>
      <div className="space-y-1.5 border-t border-line px-2 py-1.5">
        {use.path && <Text label="File" text={use.path} />}
        {use.input && <Text label="Input" text={use.input} />}
        {use.output && <Text label={use.state === "failed" ? "Error" : "Output"} text={use.output} />}
        <Link
          to="/skills/$name"
          params={{ name: use.skill }}
          className="inline-block rounded-sm underline underline-offset-2"
        >
          Open in library
        </Link>
      </div>
    </details>
  );
}

/** Output of a skill is shown verbatim, never as Markdown. */
function Text({ label, text }: { label: string; text: string }) {
  return (
    <div>
      <p className="text-faint">{label}</p>
      <pre className="mono max-h-60 overflow-auto break-words whitespace-pre-wrap text-ink">{text}</pre>
    </div>
  );
}
