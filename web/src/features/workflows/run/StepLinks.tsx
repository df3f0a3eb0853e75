import { Link } from "@tanstack/react-router";
import { ArrowUpRight } from "lucide-react";
import type { WorkflowRunDetail, WorkflowStep } from "@/api/types";
import { asDefinition, stepOf } from "../definition/model";

const LOOK =
  "inline-flex items-center gap-1 rounded-sm text-xs text-dim underline decoration-strong underline-offset-2 hover:text-ink";

/** Links to the work of a step: a conversation, another run or an audit. */
export function StepLinks({ step, run }: { step: WorkflowStep; run: WorkflowRunDetail }) {
  const { config } = stepOf(asDefinition(run.definition), step.step) ?? {};
  const runId = step.linked_run_id;
  const slug =
    config?.type === "agent" ? plain(config.bot) : config?.type === "message" ? plain(config.to) : null;
  if (!runId && !slug) return null;
  return (
    <p className="flex flex-wrap gap-x-4 gap-y-1">
      {runId &&
        (step.type === "sub_workflow" ? (
          <Link to="/workflows/runs/$runId" params={{ runId }} className={LOOK}>
            Child run <ArrowUpRight size={12} aria-hidden />
          </Link>
        ) : (
          <Link to="/runs/$runId" params={{ runId }} className={LOOK}>
            {WORDS[step.type] ?? "Run"} <ArrowUpRight size={12} aria-hidden />
          </Link>
        ))}
      {slug && (
        <Link to="/bots/$slug/chat/{-$sessionId}" params={{ slug, sessionId: undefined }} className={LOOK}>
          Conversations with <span className="mono">{slug}</span> <ArrowUpRight size={12} aria-hidden />
        </Link>
      )}
    </p>
  );
}

/** Links to the conversation of a bot's answer. */
export function Conversation({ output }: { output: unknown }) {
  if (typeof output !== "object" || output === null || !("session_id" in output && "bot" in output))
    return null;
  const { session_id: sessionId, bot: slug } = output;
  if (typeof sessionId !== "string" || typeof slug !== "string") return null;
  return (
    <Link to="/bots/$slug/chat/{-$sessionId}" params={{ slug, sessionId }} className={LOOK}>
      Conversation <ArrowUpRight size={12} aria-hidden />
    </Link>
  );
}

const WORDS: Partial<Record<WorkflowStep["type"], string>> = {
  agent: "Chat run",
  audit: "Audit",
  message: "Open delivery",
};

/** A literal name, without templates. */
const plain = (text: string | undefined): string | null => (text && !text.includes("{{") ? text : null);
