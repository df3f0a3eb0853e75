/** Scopes of steps and links between them: the same rules as the server's graph, but tolerant of errors. */
import type { Definition, Step } from "./model";

export const TOP = "";
export const FINALLY = "finally";
/** The workflow itself, `finally`, or a loop as `/its-id`. */
export type Scope = string;

export const scopeOfLoop = (id: string): Scope => `/${id}`;
/** The loop whose body is the scope; null for the other scopes. */
export const loopOfScope = (scope: Scope): string | null => (scope.startsWith("/") ? scope.slice(1) : null);

/** The scope of each step. The first claim wins; loops that contain each other stay at the top level. */
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

/** Whether a step is in the body of a loop at any depth; a step is inside itself. */
export function isInside(scopes: ReadonlyMap<string, Scope>, id: string, loop: string): boolean {
  for (let at: string | null = id; at !== null; at = loopOfScope(scopes.get(at) ?? TOP)) {
    if (at === loop) return true;
  }
  return false;
}

/** The kinds of links. All but the first also depend on a choice at run time. */
export type Way = "after" | "then" | "else" | "rejected" | "error";
export type Link = { from: string; to: string; way: Way };

/** The links that a step defines, except those from `depends_on` of others. */
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

/** All links between existing steps. A choice implies the dependency, so that is not listed twice. */
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

/** All steps that are finished before a step starts, including those before its loops; nearest first. */
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
    // Steps before a loop are finished before its body starts; the loop itself is not.
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
