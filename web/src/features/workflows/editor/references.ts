/** References available to templates and conditions. */
import { type Config, type Definition, type Step, type StepType, titleOf } from "../definition/model";
import { spoken } from "../definition/naming";
import { loopOfScope, scopesOf, TOP, upstreamOf } from "../definition/scopes";

export type Reference = { group: string; label: string; text: string };

const OUTPUTS: Record<StepType, readonly string[]> = {
  agent: ["response", "bot", "model", "usage"],
  skill: ["output"],
  http: ["body", "status", "headers"],
  code: ["output"],
  conditional: ["condition_met", "selected_steps"],
  loop: ["results", "iterations", "completed"],
  approval: ["approved", "comment", "by", "at"],
  sub_workflow: ["output", "run_id"],
  wait: ["waited_secs"],
  message: ["message_id"],
  audit: ["verdict", "run_id"],
};

/** The references of one step, or of the workflow's outputs if `id` is null. */
export function referencesFor(definition: Definition, id: string | null): Reference[] {
  const steps = id === null ? definition.steps : upstreamOf(definition, id);
  return [
    ...inputsOf(definition),
    ...(id === null ? [] : loopAround(definition, id)),
    ...steps.flatMap(outputsOf),
    ...["payload", "type", "source", "fired_at"].map(triggerPart),
    ...["name", "run_id"].map((name) => ({
      group: "This run",
      label: name,
      text: `workflow.${name}`,
    })),
  ];
}

const triggerPart = (name: string): Reference => ({
  group: "Trigger",
  label: name === "payload" ? "payload" : name,
  text: name === "payload" ? "trigger" : `workflow.trigger.${name}`,
});

const inputsOf = ({ inputs = {} }: Definition): Reference[] =>
  Object.keys(inputs).map((name) => ({ group: "Inputs", label: name, text: `inputs.${name}` }));

function loopAround(definition: Definition, id: string): Reference[] {
  const loop = loopOfScope(scopesOf(definition).get(id) ?? TOP);
  const isAround = loop !== null || definition.steps.some((step) => step.id === id && step.type === "loop");
  if (!isAround) return [];
  return ["item", "index"].map((name) => ({ group: "This loop", label: name, text: `loop.${name}` }));
}

function outputsOf(step: Step): Reference[] {
  const group = titleOf(step);
  const at = spoken(step.id);
  return [
    ...[...OUTPUTS[step.type], ...ownOutputs(step.config)].map((name) => ({
      group,
      label: name,
      text: `${at}.output.${name}`,
    })),
    { group, label: "status", text: `${at}.status` },
    ...(step.on_error === "continue" ? [{ group, label: "error", text: `${at}.error` }] : []),
  ];
}

/** Outputs that depend on the step's configuration. */
function ownOutputs(config: Config): string[] {
  if (config.type === "message" && config.wait) return ["reply"];
  if (config.type !== "agent" || !config.output_schema) return [];
  const properties = config.output_schema.properties;
  const isObject = typeof properties === "object" && properties !== null && !Array.isArray(properties);
  return ["json", ...(isObject ? Object.keys(properties).map((name) => `json.${name}`) : [])];
}
