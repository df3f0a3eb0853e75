/** Add, change and remove steps. Definitions are never mutated. */
import type { Config, ConfigOf, Definition, Point, Step, StepType } from "./model";
import { loopOfScope, type Scope, scopesOf, TOP } from "./scopes";

/** The initial configuration of each step type. */
const BLANK: { [Type in StepType]: ConfigOf<Type> } = {
  agent: { type: "agent", bot: "", prompt: "" },
  skill: { type: "skill", skill: "" },
  http: { type: "http", method: "GET", url: "" },
  code: {
    type: "code",
    language: "javascript",
    source: "function run(input) {\n  return input;\n}\n",
  },
  conditional: { type: "conditional", condition: "" },
  loop: { type: "loop", items: "", body_steps: [] },
  approval: { type: "approval", prompt: "" },
  sub_workflow: { type: "sub_workflow", workflow_name: "" },
  wait: { type: "wait", seconds: 60 },
  message: { type: "message", to: "", body: "" },
  audit: { type: "audit", workspace: "" },
};

/** `http`, or `http_2` if that exists. */
function freeId(taken: ReadonlySet<string>, wanted: string): string {
  const stem = wanted.replace(/_\d+$/, "").slice(0, 58);
  let id = wanted.slice(0, 64);
  for (let number = 2; taken.has(id); number += 1) id = `${stem}_${number}`;
  return id;
}

const idsOf = ({ steps }: Definition): Set<string> => new Set(steps.map(({ id }) => id));

type Where = {
  /** The step to run after, in the same scope. */
  after?: string | null;
  /** The loop to add it to, at the start of its body. */
  inside?: string | null;
  position?: Point | null;
};
export type Added = { definition: Definition; id: string };

export function added(definition: Definition, type: StepType, where: Where = {}): Added {
  const id = freeId(idsOf(definition), type);
  const step: Step = {
    id,
    type,
    ...(where.after && { depends_on: [where.after] }),
    config: structuredClone(BLANK[type]),
    ...(where.position && { ui: { position: where.position } }),
  };
  const scope = where.after ? (scopesOf(definition).get(where.after) ?? TOP) : TOP;
  const withStep = { ...definition, steps: [...definition.steps, step] };
  return { id, definition: placed(withStep, id, where.inside ? `/${where.inside}` : scope) };
}

/** Replace one step with the result of `change`. */
export function changed(definition: Definition, id: string, change: (step: Step) => Step): Definition {
  return { ...definition, steps: definition.steps.map((step) => (step.id === id ? change(step) : step)) };
}

export function configured(definition: Definition, id: string, patch: Partial<Config>): Definition {
  return changed(definition, id, (step) => ({ ...step, config: { ...step.config, ...patch } as Config }));
}

type Named = (id: string) => string | null;

const mapped = (ids: readonly string[], named: Named): string[] => [
  ...new Set(ids.map(named).filter((id) => id !== null)),
];

/** Replace every step ID in a step; null removes the reference. */
export function renaming(step: Step, named: Named): Step {
  const { depends_on: after, on_error: handler } = step;
  const goto = typeof handler === "object" ? named(handler.goto) : null;
  return {
    ...step,
    ...(after && { depends_on: mapped(after, named) }),
    ...(typeof handler === "object" && { on_error: goto === null ? ("fail" as const) : { goto } }),
    config: renamingIn(step.config, named),
  };
}

function renamingIn(config: Config, named: Named): Config {
  if (config.type === "loop") return { ...config, body_steps: mapped(config.body_steps, named) };
  if (config.type === "approval" && config.rejected_steps) {
    return { ...config, rejected_steps: mapped(config.rejected_steps, named) };
  }
  if (config.type !== "conditional") return config;
  const { then_steps: yes, else_steps: no } = config;
  return {
    ...config,
    ...(yes && { then_steps: mapped(yes, named) }),
    ...(no && { else_steps: mapped(no, named) }),
  };
}

export function renamingAll(definition: Definition, named: Named): Definition {
  return {
    ...definition,
    steps: definition.steps.map((step) => renaming(step, named)),
    ...(definition.finally && { finally: mapped(definition.finally, named) }),
  };
}

/** Remove steps and all references to them. Steps in a removed loop move out of it. */
export function removed(definition: Definition, ids: readonly string[]): Definition {
  const gone = new Set(ids);
  const left = { ...definition, steps: definition.steps.filter(({ id }) => !gone.has(id)) };
  return renamingAll(left, (id) => (gone.has(id) ? null : id));
}

const BESIDE = 32;

/** Copies keep the links among each other and the dependencies of the originals. */
export function duplicated(
  definition: Definition,
  ids: readonly string[],
): { definition: Definition; ids: string[] } {
  const chosen = definition.steps.filter(({ id }) => ids.includes(id));
  const taken = idsOf(definition);
  const names = new Map<string, string>();
  for (const { id } of chosen) {
    const copy = freeId(taken, id);
    taken.add(copy);
    names.set(id, copy);
  }
  const scopes = scopesOf(definition);
  const copies = chosen.map((step) => copyOf(step, names));
  let grown: Definition = { ...definition, steps: [...definition.steps, ...copies] };
  for (const [from, copy] of names) {
    const scope = scopes.get(from) ?? TOP;
    const loop = loopOfScope(scope);
    if (loop === null || !names.has(loop)) grown = placed(grown, copy, scope);
  }
  return { definition: grown, ids: [...names.values()] };
}

/** Choices lead to copies only, so that no original is selected twice. */
function copyOf(step: Step, names: ReadonlyMap<string, string>): Step {
  const chosen = renaming(step, (id) => names.get(id) ?? null);
  const position = step.ui?.position;
  return {
    ...structuredClone(chosen),
    id: names.get(step.id) ?? step.id,
    ...(step.depends_on && { depends_on: mapped(step.depends_on, (id) => names.get(id) ?? id) }),
    ...(position && { ui: { ...step.ui, position: { x: position.x + BESIDE, y: position.y + BESIDE } } }),
  };
}

/** Move a step to a scope. Links to other scopes are removed, because steps can only depend on their own scope. */
export function placed(definition: Definition, id: string, scope: Scope): Definition {
  const steps = definition.steps.map((step): Step => {
    if (step.config.type !== "loop") return step;
    const others = step.config.body_steps.filter((other) => other !== id);
    const body = scope === `/${step.id}` ? [...others, id] : others;
    return { ...step, config: { ...step.config, body_steps: body } };
  });
  const others = (definition.finally ?? []).filter((other) => other !== id);
  const last = scope === "finally" ? [...others, id] : others;
  const moved = { ...definition, steps, ...((definition.finally || last.length > 0) && { finally: last }) };
  const scopes = scopesOf(moved);
  const isTogether = (one: string, other: string) => scopes.get(one) === scopes.get(other);
  return {
    ...moved,
    steps: moved.steps.map((step) => withinScope(step, (other) => isTogether(step.id, other))),
  };
}

function withinScope(step: Step, isTogether: (id: string) => boolean): Step {
  const kept = renaming(step, (id) => (isTogether(id) ? id : null));
  // The body of a loop is always another scope.
  return step.config.type === "loop" ? { ...kept, config: step.config } : kept;
}
