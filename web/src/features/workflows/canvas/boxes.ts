/** What is drawn: steps and the frames around them. A folded frame is drawn like a step. */
import { type Definition, type Step, titleOf } from "../definition/model";
import { FINALLY, type Scope, scopeOfLoop, scopesOf, TOP } from "../definition/scopes";

export type BoxKind = "step" | "loop" | "group" | "band";

export type Box = {
  /** The ID of a step; IDs of other boxes contain a colon, which step IDs cannot. */
  id: string;
  kind: BoxKind;
  title: string;
  step: Step | null;
  members: readonly Box[];
  isFolded: boolean;
};

export const BAND = "finally:";

/** The boxes of a definition, the `finally` frame last. */
export function boxesOf(definition: Definition): Box[] {
  const scopes = scopesOf(definition);
  const inScope = new Map<Scope, Step[]>();
  for (const step of definition.steps) {
    const scope = scopes.get(step.id) ?? TOP;
    inScope.set(scope, [...(inScope.get(scope) ?? []), step]);
  }
  const within = (scope: Scope): Box[] => {
    const steps = inScope.get(scope) ?? [];
    const boxes = steps.map((step) => boxOf(step, within));
    return inGroups(scope, boxes);
  };
  const last = within(FINALLY);
  if (last.length === 0) return within(TOP);
  const band: Box = {
    id: BAND,
    kind: "band",
    title: "Finally (always runs)",
    step: null,
    members: last,
    isFolded: false,
  };
  return [...within(TOP), band];
}

function boxOf(step: Step, within: (scope: Scope) => Box[]): Box {
  const isLoop = step.type === "loop";
  const members = isLoop ? within(scopeOfLoop(step.id)) : [];
  return {
    id: step.id,
    kind: isLoop ? "loop" : "step",
    title: titleOf(step),
    step,
    members,
    isFolded: isLoop && members.length > 0 && step.ui?.collapsed === true,
  };
}

/** Put steps of one scope with the same group into a frame, at the position of the first. */
function inGroups(scope: Scope, boxes: readonly Box[]): Box[] {
  const groups = new Map<string, Box[]>();
  const found: (Box | string)[] = [];
  for (const box of boxes) {
    const name = box.step?.ui?.group;
    if (!name) {
      found.push(box);
      continue;
    }
    if (!groups.has(name)) found.push(name);
    groups.set(name, [...(groups.get(name) ?? []), box]);
  }
  return found.map((one) => (typeof one === "string" ? groupOf(scope, one, groups.get(one) ?? []) : one));
}

function groupOf(scope: Scope, name: string, members: readonly Box[]): Box {
  return {
    id: `group:${scope}:${name}`,
    kind: "group",
    title: name,
    step: null,
    members,
    isFolded: members.every(({ step }) => step?.ui?.collapsed === true),
  };
}

/** The IDs of all steps in a box, including its own. */
export function stepsIn({ step, members }: Box): string[] {
  return [...(step ? [step.id] : []), ...members.flatMap(stepsIn)];
}

/** The box that shows each step: itself, or the folded frame around it. */
export function shownAs(boxes: readonly Box[]): Map<string, string> {
  const shown = new Map<string, string>();
  const walk = (box: Box) => {
    if (box.isFolded) for (const id of stepsIn(box)) shown.set(id, box.id);
    else {
      if (box.step) shown.set(box.step.id, box.id);
      for (const member of box.members) walk(member);
    }
  };
  for (const box of boxes) walk(box);
  return shown;
}

/** Resolve box IDs to step IDs: a group or folded frame stands for all steps in it. */
export function stepsAmong(boxes: readonly Box[], ids: readonly string[]): string[] {
  const found = new Set<string>();
  const walk = (box: Box) => {
    const isChosen = ids.includes(box.id);
    if (isChosen && (box.kind === "group" || box.isFolded)) {
      for (const id of stepsIn(box)) found.add(id);
      return;
    }
    if (isChosen && box.step) found.add(box.step.id);
    for (const member of box.members) walk(member);
  };
  for (const box of boxes) walk(box);
  return [...found];
}
