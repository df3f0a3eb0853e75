/** Where steps belong and what leads to them: the same rules as the server's graph, forgiving where that refuses. */
import type { Definition, Step } from "./model";

export const TOP = "";
export const FINALLY = "finally";
/** The workflow itself, `finally`, or a loop as `/its-id`. */
export type Scope = string;

export const scopeOfLoop = (id: string): Scope => `/${id}`;
/** The loop a scope is the body of; null for the two that are no loop. */
export const loopOfScope = (scope: Scope): string | null => (scope.startsWith("/") ? scope.slice(1) : null);

/** Whose each step is. The first that claims a step has it; loops that contain each other belong to nobody. */
export function scopesOf(definition: Definition): Map<string, Scope> {
  const scopes = new Map<string, Scope>(definition.steps.map(({ id }) => [id, TOP]));
  for (const id of definition.finally ?? []) if (scopes.has(id)) scopes.set(id, FINALLY);
  for (const { id: loop, config } of definition.steps) {
    if (config.type !== "loop") continue;
    for (const id of config.body_steps) {
      if (scopes.get(id) === TOP && !isInside(scopes, loop, id)) scopes.set(id, scopeOfLoop(loop));
    }
  }
  return scopes;
}

/** Whether a step is in the body of a loop, however deep; a step is inside itself. */
export function isInside(scopes: ReadonlyMap<string, Scope>, id: string, loop: string): boolean {
  for (let at: string | null = id; at !== null; at = loopOfScope(scopes.get(at) ?? TOP)) {
    if (at === loop) return true;
  }
  return false;
}

/** How one step leads to another. All but the first say in addition that somebody has to choose it. */
export type Way = "after" | "then" | "else" | "rejected" | "error";
export type Link = { from: string; to: string; way: Way };

/** All that leads from a step to others, but for what they say themselves with `depends_on`. */
function choicesOf({ id, config, on_error }: Step): Link[] {
  const links = (ids: readonly string[] | undefined, way: Way) =>
    (ids ?? []).map((to) => ({ from: id, to, way }));
  return [
    ...(config.type === "conditional" ? links(config.then_steps, "then") : []),
    ...(config.type === "conditional" ? links(config.else_steps, "else") : []),
    ...(config.type === "approval" ? links(config.rejected_steps, "rejected") : []),
    ...(typeof on_error === "object" ? links([on_error.goto], "error") : []),
  ];
}

/** Every link between steps that are there. Where a choice leads to a step, that it also depends on it goes without saying. */
export function linksOf(definition: Definition): Link[] {
  const known = new Set(definition.steps.map(({ id }) => id));
  const choices = definition.steps.flatMap(choicesOf);
  const chosen = new Set(choices.map(({ from, to }) => `${from} ${to}`));
  const plain = definition.steps.flatMap(({ id, depends_on }) =>
    [...new Set(depends_on)].map((from): Link => ({ from, to: id, way: "after" })),
  );
  return [...plain.filter(({ from, to }) => !chosen.has(`${from} ${to}`)), ...choices].filter(
    ({ from, to }) => known.has(from) && known.has(to),
  );
}

/** All that is settled before a step begins, those before the loops around it included; the nearest first. */
export function upstreamOf(definition: Definition, id: string): Step[] {
  const scopes = scopesOf(definition);
  const before = groupedBy(linksOf(definition), ({ to }) => to);
  const found = new Set<string>();
  const open = [id];
  for (let at = open.shift(); at !== undefined; at = open.shift()) {
    const loop = loopOfScope(scopes.get(at) ?? TOP);
    const sources = (before.get(at) ?? []).map(({ from }) => from);
    open.push(...sources.filter((source) => !found.has(source)));
    for (const source of sources) found.add(source);
    // What is around a loop is done before its body begins; the loop itself is not.
    if (loop !== null && !open.includes(loop)) open.push(loop);
  }
  const byId = new Map(definition.steps.map((step) => [step.id, step]));
  return [...found].flatMap((source) => byId.get(source) ?? []).filter((step) => step.id !== id);
}

export function groupedBy<Item>(items: readonly Item[], key: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group) group.push(item);
    else groups.set(key(item), [item]);
  }
  return groups;
}
