/** What an agent is currently doing, so that the page is never silent without a reason. */
import { isFinished } from "@/api/runs";
import type { Tone } from "@/ui/tone";
import type { RunView, StepView } from "../fold";
import { type AgentView, isModelStep, type ToolView } from "./fold";

export type Activity = {
  tone: Tone;
  text: string;
  since: string | null;
  /** The time of the next attempt. */
  until: string | null;
  hint: string | null;
};

const activity = (tone: Tone, text: string, more: Partial<Activity> = {}): Activity => ({
  tone,
  text,
  since: null,
  until: null,
  hint: null,
  ...more,
});

/** null if the run has ended. */
export function activityOf(run: RunView, agent: AgentView): Activity | null {
  if (run.status !== null && isFinished(run.status)) return null;
  if (run.status === null || run.status === "pending")
    return activity("idle", "Queued, waiting for a worker");
  if (run.gates.some((gate) => gate.status === "open")) return activity("wait", "Waiting for your answer");
  const step = run.steps.findLast(({ status }) => status === "running" || status === "retrying");
  if (step && isModelStep(step.name)) return ofModel(step, agent);
  const tools = pendingTools(agent);
  if (tools.length > 0) return ofTools(tools);
  if (agent.draft && !agent.draft.isOver) return writing(agent);
  return activity("run", agent.started ? "Continuing" : "Preparing", { since: step?.startedAt ?? null });
}

function ofModel(step: StepView, agent: AgentView): Activity {
  const attempt = step.attempt > 1 ? `, attempt ${step.attempt}` : "";
  if (step.status === "retrying") {
    const hint = step.error?.message ?? null;
    return activity("wait", "Retrying the model", { until: step.retryAt, hint });
  }
  if (agent.draft && !agent.draft.isOver) return { ...writing(agent), since: step.startedAt };
  const hint = step.error ? `Before: ${step.error.message}` : null;
  return activity("run", `Waiting for the model${attempt}`, { since: step.startedAt, hint });
}

const writing = ({ draft }: AgentView): Activity =>
  activity("run", draft?.text.text ? "Writing" : "Thinking");

function pendingTools({ pieces }: AgentView): readonly ToolView[] {
  const last = pieces.findLast((piece) => piece.kind === "turn");
  return last?.tools.filter((tool) => !tool.used && tool.startedAt) ?? [];
}

function ofTools(tools: readonly ToolView[]): Activity {
  const [first] = tools;
  const what = first && tools.length === 1 ? targetOf(first) || first.name : `${tools.length} tools`;
  return activity("run", `Running ${what}`, { since: first?.startedAt ?? null });
}

/** The target of a tool call in one line: its command, pattern or path. */
export function targetOf({ input }: Pick<ToolView, "input">): string {
  const found = ["command", "pattern", "path"].map((name) => input?.[name]).find(Boolean);
  return typeof found === "string" ? found.replaceAll(/\s+/g, " ") : "";
}
