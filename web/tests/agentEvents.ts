/** Events of agents for tests: short to write, true to the schema. */
import type { Event, EventOf } from "@/api/types";
import { event, time } from "./events";

type TurnData = EventOf<"agent.turn">["data"];
type ToolData = EventOf<"agent.tool">["data"];

export const created = event(1, "run.created", { kind: "agent", title: "Fix it", parent_id: null });
export const taken = event(2, "run.started", { worker: "w1", attempt: 1 });
export const LIMITS = { turns: 100, tokens: 20_000_000, seconds: 14_400, same_failure: 3 };
export const began = event(3, "agent.started", {
  role: "builder",
  tools: ["read_file", "run_tests"],
  limits: LIMITS,
  sandbox: "isolated",
  compact: false,
});

export const asked = (id: string, name: string, input: Record<string, unknown> = {}) => ({
  id,
  name,
  input,
  as_text: false,
});

export function turn(seq: number, number: number, changes: Partial<TurnData> = {}): Event {
  return event(seq, "agent.turn", {
    turn: number,
    model: "scripted:coder",
    text: `Words of turn ${number}.`,
    thinking: "",
    tools: [],
    stop: "end",
    usage: { input: 10, output: 20, cache_read: 300, cache_write: 4000 },
    cost_micros: 5000,
    context_used: 0.1,
    ...changes,
  });
}

export function tool(seq: number, number: number, id: string, changes: Partial<ToolData> = {}): Event {
  return event(seq, "agent.tool", {
    turn: number,
    call_id: id,
    name: "read_file",
    is_error: false,
    summary: "app.py, 12 lines",
    text: "the text",
    duration_ms: 12,
    detail: {},
    ...changes,
  });
}

export function delta(number: number, text: string, changes: Partial<EventOf<"agent.delta">["data"]> = {}) {
  const data = { turn: number, attempt: 1, kind: "text", offset: 0, text, ...changes };
  return { stream: "run:r1", seq: null, at: time(0), type: "agent.delta", data } as Event;
}

export function ended(seq: number, changes: Partial<EventOf<"agent.ended">["data"]["result"]> = {}): Event {
  const usage = { input: 10, output: 20, cache_read: 300, cache_write: 4000 };
  const result = {
    end: "done",
    text: "Done.",
    turns: 2,
    tool_calls: 1,
    usage,
    cost_micros: 12_000,
    model: "anthropic:claude",
    model_ms: 900,
  } as const;
  return event(seq, "agent.ended", { result: { ...result, ...changes } });
}

export const stepStarted = (seq: number, step: number, name: string, attempt = 1): Event =>
  event(seq, "step.started", { step, name, attempt });

export function stepFailed(seq: number, step: number, name: string, message: string): Event {
  const error = { code: "unavailable", message, hint: null, retryable: true };
  return event(seq, "step.finished", {
    step,
    name,
    attempt: 1,
    outcome: "error",
    duration_ms: 9,
    error,
    retry_in_s: 2,
  });
}
