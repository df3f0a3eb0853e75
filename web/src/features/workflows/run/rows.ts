/**
 * The steps of a run as list rows: in definition order, with the iterations of loops below them. Folded rows are
 * omitted, so that a run of thousands of steps is a short list.
 */
import type { WorkflowStep, WorkflowStepStatus, WorkflowStepType } from "@/api/types";
import { type Definition, type Step, titleOf } from "../definition/model";

export type StepRow = {
  kind: "step";
  /** The key of the step in the run. */
  id: string;
  depth: number;
  title: string;
  type: WorkflowStepType;
  /** null if it has not started. */
  step: WorkflowStep | null;
  /** For a loop: the number of iterations, and whether they are shown. */
  fold: { isOpen: boolean; count: number } | null;
};
export type IterationRow = {
  kind: "iteration";
  /** For example `each[2]`. */
  id: string;
  depth: number;
  index: number;
  status: WorkflowStepStatus;
  fold: { isOpen: boolean; count: number };
};
export type Row = StepRow | IterationRow;

type Steps = ReadonlyMap<string, WorkflowStep>;
type Wish = {
  /** Rows whose folding was toggled: loops start open, iterations folded. */
  turned: ReadonlySet<string>;
  /** The selected row is always visible. */
  selected: string | null;
};

/** The scope of a key: `each[2]` for `each[2]/fetch`, empty outside of loops. */
const scopeOf = (key: string): string => key.slice(0, Math.max(0, key.lastIndexOf("/")));

export function rowsOf(definition: Definition, steps: Steps, wish: Wish): Row[] {
  const rows: Row[] = [];
  addScope(rows, { definition, wish, ...index(definition, steps) }, "", 0);
  return rows;
}

type Index = {
  /** Started steps by scope, in definition order. */
  scopes: ReadonlyMap<string, readonly WorkflowStep[]>;
  /** Iteration numbers by the key of their loop. */
  iterations: ReadonlyMap<string, readonly number[]>;
  /** IDs of steps inside loops. */
  bodies: ReadonlySet<string>;
  defined: ReadonlyMap<string, Step>;
};
type Source = Index & { definition: Definition; wish: Wish };

const ITERATION = /^(.*)\[(\d+)\]$/;

function index(definition: Definition, steps: Steps): Index {
  const places = new Map(definition.steps.map(({ id }, at) => [id, at]));
  const place = ({ step }: WorkflowStep) => places.get(step) ?? places.size;
  const scopes = new Map<string, WorkflowStep[]>();
  for (const step of steps.values()) {
    const scope = scopeOf(step.key);
    const others = scopes.get(scope);
    if (others) others.push(step);
    else scopes.set(scope, [step]);
  }
  for (const found of scopes.values()) found.sort((a, b) => place(a) - place(b));
  const iterations = new Map<string, number[]>();
  for (const scope of scopes.keys()) {
    const [, loop, number] = ITERATION.exec(scope) ?? [];
    if (loop !== undefined) iterations.set(loop, [...(iterations.get(loop) ?? []), Number(number)]);
  }
  for (const numbers of iterations.values()) numbers.sort((a, b) => a - b);
  const bodies = new Set(
    definition.steps.flatMap(({ config }) => (config.type === "loop" ? config.body_steps : [])),
  );
  return { scopes, iterations, bodies, defined: new Map(definition.steps.map((step) => [step.id, step])) };
}

function addScope(rows: Row[], source: Source, scope: string, depth: number): void {
  const begun = source.scopes.get(scope) ?? [];
  if (scope !== "") {
    for (const step of begun) addStep(rows, source, step.key, depth, step);
    return;
  }
  const known = new Map(begun.map((step) => [step.step, step]));
  for (const { id } of source.definition.steps) {
    const step = known.get(id);
    if (step) addStep(rows, source, step.key, depth, step);
    else if (!source.bodies.has(id)) addStep(rows, source, id, depth, null);
  }
}

function addStep(rows: Row[], source: Source, key: string, depth: number, step: WorkflowStep | null): void {
  const defined = source.defined.get(step?.step ?? key);
  const numbers = source.iterations.get(key) ?? [];
  const isOpen = !source.wish.turned.has(key) || holds(source.wish.selected, `${key}[`);
  rows.push({
    kind: "step",
    id: key,
    depth,
    title: step?.name || (defined ? titleOf(defined) : key),
    type: step?.type ?? defined?.type ?? "code",
    step,
    fold: numbers.length > 0 ? { isOpen, count: numbers.length } : null,
  });
  if (isOpen)
    for (const number of numbers) addIteration(rows, source, `${key}[${number}]`, number, depth + 1);
}

function addIteration(rows: Row[], source: Source, id: string, index: number, depth: number): void {
  const begun = source.scopes.get(id) ?? [];
  const isOpen = source.wish.turned.has(id) || holds(source.wish.selected, `${id}/`);
  const status = together(begun.map((step) => step.status));
  rows.push({ kind: "iteration", id, depth, index, status, fold: { isOpen, count: begun.length } });
  if (isOpen) addScope(rows, source, id, depth + 1);
}

const holds = (selected: string | null, start: string): boolean => selected?.startsWith(start) ?? false;

/** The most relevant status first. */
const ORDER: readonly WorkflowStepStatus[] = [
  "running",
  "retrying",
  "waiting",
  "failed",
  "cancelled",
  "completed",
  "skipped",
];

/** The combined status of several steps. */
export const together = (statuses: readonly WorkflowStepStatus[]): WorkflowStepStatus =>
  ORDER.find((status) => statuses.includes(status)) ?? "running";
