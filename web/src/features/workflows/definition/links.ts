/** Add and remove links between steps. */
import type { Config, Definition, Step } from "./model";
import { groupedBy, type Link, linksOf, scopesOf, type Way } from "./scopes";
import { changed } from "./steps";

/** Why two steps cannot be linked; null if they can. */
export function wrongLink(definition: Definition, { from, to, way }: Link): string | null {
  if (from === to) return "A step cannot wait for itself.";
  const scopes = scopesOf(definition);
  if (!scopes.has(from) || !scopes.has(to)) return "No such step.";
  if (scopes.get(from) !== scopes.get(to)) {
    return "Steps can only depend on steps in the same group: top level, the same loop, or finally.";
  }
  const links = linksOf(definition);
  if (links.some((link) => link.from === from && link.to === to && link.way === way)) {
    return "These steps are already linked.";
  }
  if (reaches(links, to, from)) return "This would create a cycle. Use a loop to repeat steps.";
  return null;
}

function reaches(links: readonly Link[], from: string, to: string): boolean {
  const after = groupedBy(links, (link) => link.from);
  const seen = new Set([from]);
  const open = [from];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (at === to) return true;
    for (const { to: next } of after.get(at) ?? []) {
      if (!seen.has(next)) open.push(next);
      seen.add(next);
    }
  }
  return false;
}

export function linked(definition: Definition, link: Link): Definition {
  if (wrongLink(definition, link) !== null) return definition;
  const { from, to, way } = link;
  if (way === "after") {
    return changed(definition, to, (step) => ({ ...step, depends_on: [...(step.depends_on ?? []), from] }));
  }
  return changed(definition, from, (step) => choosing(step, way, (ids) => [...ids, to]));
}

/** Removes the link, and for a choice also the dependency on the choosing step. */
export function unlinked(definition: Definition, { from, to, way }: Link): Definition {
  const without = changed(definition, to, (step) => ({
    ...step,
    ...(step.depends_on && { depends_on: step.depends_on.filter((id) => id !== from) }),
  }));
  if (way === "after") return without;
  return changed(without, from, (step) => choosing(step, way, (ids) => ids.filter((id) => id !== to)));
}

/** Change the steps that a step selects in one way. */
function choosing(step: Step, way: Way, change: (ids: readonly string[]) => string[]): Step {
  const { config, on_error: handler } = step;
  if (way === "error") {
    const goto = change(typeof handler === "object" ? [handler.goto] : []).at(-1);
    return { ...step, on_error: goto === undefined ? "fail" : { goto } };
  }
  return { ...step, config: choosingIn(config, way, change) };
}

function choosingIn(config: Config, way: Way, change: (ids: readonly string[]) => string[]): Config {
  if (config.type === "conditional" && way === "then") {
    return { ...config, then_steps: change(config.then_steps ?? []) };
  }
  if (config.type === "conditional" && way === "else") {
    return { ...config, else_steps: change(config.else_steps ?? []) };
  }
  if (config.type === "approval" && way === "rejected") {
    return { ...config, rejected_steps: change(config.rejected_steps ?? []) };
  }
  return config;
}
