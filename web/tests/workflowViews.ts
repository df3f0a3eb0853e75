/** Workflows, their runs and their steps for tests: short to write, true to the schema. */
import type { WorkflowCard, WorkflowDetail, WorkflowRunDetail, WorkflowStep } from "@/api/types";
import { type Definition, type Step, stepOf } from "@/features/workflows/definition/model";
import { event, time } from "./events";

export function card(changes: Partial<WorkflowCard> = {}): WorkflowCard {
  return {
    id: "w1",
    name: "digest",
    description: "Sums up the news.",
    owner: null,
    number: 3,
    version: "1.0",
    is_enabled: true,
    steps: 2,
    triggers: [],
    last_runs: [],
    open_gates: 0,
    created_at: time(0),
    updated_at: time(0),
    ...changes,
  };
}

export function workflow(changes: Partial<WorkflowDetail> = {}): WorkflowDetail {
  return { ...card(), definition: DIGEST, source: "name: digest\n", warnings: [], ...changes };
}

const http = (id: string, changes: Partial<Step> = {}): Step => ({
  id,
  type: "http",
  config: { type: "http", url: "https://news.example" },
  ...changes,
});

/** `gather`, then a loop `each` over `fetch` and `inner` (a loop over `deep`), then `tell`. */
export const DIGEST: Definition = {
  name: "digest",
  inputs: { topic: { type: "string", required: true }, most: { type: "integer", default: 5 } },
  steps: [
    http("gather", { name: "Gather" }),
    {
      id: "each",
      type: "loop",
      depends_on: ["gather"],
      config: { type: "loop", body_steps: ["fetch", "inner"] },
    },
    http("fetch"),
    { id: "inner", type: "loop", config: { type: "loop", body_steps: ["deep"] } },
    http("deep"),
    {
      id: "tell",
      type: "agent",
      depends_on: ["each"],
      config: { type: "agent", bot: "iris", prompt: "Say it." },
    },
  ],
};

export function step(key: string, changes: Partial<WorkflowStep> = {}): WorkflowStep {
  const id = key.split("/").at(-1) ?? key;
  return {
    key,
    step: id,
    type: stepOf(DIGEST, id)?.type ?? "http",
    name: "",
    status: "completed",
    attempt: 1,
    started_at: time(1),
    finished_at: time(2),
    error: null,
    note: "",
    cost_micros: 0,
    linked_run_id: null,
    is_kept: false,
    ...changes,
  };
}

export const moved = (seq: number, key: string, changes: Partial<WorkflowStep> = {}) =>
  event(seq, "workflow.step", { step: step(key, changes) });

export function runOf(changes: Partial<WorkflowRunDetail> = {}): WorkflowRunDetail {
  return {
    id: "r1",
    workflow_id: "w1",
    workflow_name: "digest",
    number: 3,
    status: "running",
    trigger: "manual",
    source: "ada",
    parent_id: null,
    retry_of: null,
    inputs: { topic: "cats", most: 5 },
    error: null,
    cost_micros: 0,
    created_at: time(0),
    started_at: time(1),
    finished_at: null,
    payload: { topic: "cats" },
    output: null,
    definition: DIGEST,
    steps: [],
    gates: [],
    children: [],
    ...changes,
  };
}
