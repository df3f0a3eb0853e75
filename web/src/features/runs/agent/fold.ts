/**
 * The state of an agent, folded from its events: the transcript and the cost. Pure. Unchanged pieces keep their
 * identity, so that only changed ones are rendered again.
 */
import type { Event, EventOf, Gate } from "@/api/types";
import { closed, continued, type Draft } from "./draft";
import type { Usage } from "./words";

type Asked = EventOf<"agent.turn">["data"]["tools"][number];
type Used = EventOf<"agent.tool">["data"];
type Said = EventOf<"agent.turn">["data"];
export type Verification = EventOf<"agent.verified">["data"]["verification"];

/** A requested tool call; `startedAt` is set when it starts, `used` when it has a result. */
export type ToolView = Asked & { startedAt: string | null; used: Used | null };
export type TurnPiece = { kind: "turn"; key: string; at: string; said: Said; tools: readonly ToolView[] };

export type Piece =
  | TurnPiece
  | { kind: "started"; key: string; at: string; started: EventOf<"agent.started">["data"] }
  | { kind: "heard"; key: string; at: string; messages: EventOf<"agent.heard">["data"]["messages"] }
  | { kind: "reminded"; key: string; at: string; text: string }
  | { kind: "verified"; key: string; at: string; verification: Verification }
  | { kind: "compacted"; key: string; at: string; compacted: EventOf<"agent.compacted">["data"] }
  | { kind: "gate"; key: string; at: string; gate: Gate; answer: EventOf<"gate.answered">["data"] | null }
  | { kind: "ended"; key: string; at: string; result: EventOf<"agent.ended">["data"]["result"] }
  | { kind: "cancelled"; key: string; at: string; by: string };

export type AgentView = {
  pieces: readonly Piece[];
  draft: Draft | null;
  started: EventOf<"agent.started">["data"] | null;
  /** The number of the last turn. */
  turn: number;
  model: string | null;
  usage: Usage;
  costMicros: number;
  contextUsed: number;
  heard: ReadonlySet<string>;
  /** Changed files in the order of their first change, with the number of changes. */
  changed: ReadonlyMap<string, number>;
  hasEnded: boolean;
};

export const SILENT: AgentView = {
  pieces: [],
  draft: null,
  started: null,
  turn: 0,
  model: null,
  usage: { input: 0, output: 0, cache_read: 0, cache_write: 0 },
  costMicros: 0,
  contextUsed: 0,
  heard: new Set(),
  changed: new Map(),
  hasEnded: false,
};

export const isModelStep = (name: string): boolean => /^model \d+$/.test(name);

/** Copies the list once per batch, however many events it contains. */
export function foldAgent(view: AgentView, events: readonly Event[]): AgentView {
  const next = { ...view, pieces: [...view.pieces] };
  for (const event of events) Object.assign(next, apply(next, event));
  return next;
}

type Growing = Omit<AgentView, "pieces"> & { pieces: Piece[] };

/** Adds pieces in place and returns the other changes. */
function apply(view: Growing, event: Event): Partial<AgentView> {
  switch (event.type) {
    case "agent.started":
      replace(view, { kind: "started", key: "started", at: event.at, started: event.data });
      return { started: event.data };
    case "agent.turn":
      return speak(view, event);
    case "agent.tool":
      return use(view, event.data);
    case "agent.delta":
      return event.data.turn > view.turn ? { draft: continued(view.draft, event.data) } : {};
    case "agent.heard":
      view.pieces.push({ kind: "heard", key: keyOf(event), at: event.at, messages: event.data.messages });
      return { heard: new Set([...view.heard, ...event.data.messages.map(({ id }) => id)]) };
    case "agent.reminded":
      view.pieces.push({ kind: "reminded", key: keyOf(event), at: event.at, text: event.data.text });
      return {};
    case "agent.verified":
      view.pieces.push({
        kind: "verified",
        key: keyOf(event),
        at: event.at,
        verification: event.data.verification,
      });
      return {};
    case "agent.compacted":
      view.pieces.push({ kind: "compacted", key: keyOf(event), at: event.at, compacted: event.data });
      return {};
    case "agent.ended":
      replace(view, { kind: "ended", key: "ended", at: event.at, result: event.data.result });
      return { hasEnded: true, draft: null };
    case "run.cancelled":
      replace(view, { kind: "cancelled", key: "cancelled", at: event.at, by: event.data.by });
      return { hasEnded: true, draft: null };
    case "run.failed":
    case "run.completed":
      return { hasEnded: true, draft: null };
    case "gate.opened":
      replace(view, {
        kind: "gate",
        key: event.data.gate.id,
        at: event.at,
        gate: event.data.gate,
        answer: null,
      });
      return {};
    case "gate.answered":
      return answer(view, event.data);
    case "step.started":
      return begin(view, event);
    case "step.finished":
      return isModelStep(event.data.name) ? { draft: closed(view.draft) } : {};
    case "run.started":
      return { draft: closed(view.draft) };
    default:
      return {};
  }
}

const keyOf = ({ type, seq }: Event): string => `${type} ${seq}`;

/** A repeated event, as after a crash, replaces its first occurrence. */
function replace(view: Growing, piece: Piece): void {
  const at = view.pieces.findLastIndex(({ key }) => key === piece.key);
  if (at < 0) view.pieces.push(piece);
  else view.pieces[at] = piece;
}

function speak(view: Growing, { at, data }: EventOf<"agent.turn">): Partial<AgentView> {
  const tools = data.tools.map((tool) => ({ ...tool, startedAt: null, used: null }));
  const piece: TurnPiece = { kind: "turn", key: `turn ${data.turn}`, at, said: data, tools };
  if (data.turn > view.turn) view.pieces.push(piece);
  else replace(view, piece);
  return {
    draft: null,
    turn: Math.max(view.turn, data.turn),
    model: data.model,
    usage: sum(view.usage, data.usage),
    costMicros: view.costMicros + data.cost_micros,
    contextUsed: data.context_used,
  };
}

function use(view: Growing, used: Used): Partial<AgentView> {
  change(view, used.turn, ({ id, used: before }) => id === used.call_id && !before, { used });
  const { path, changed } = used.detail;
  if (!path || !changed) return {};
  return { changed: new Map(view.changed).set(path, (view.changed.get(path) ?? 0) + 1) };
}

/** Read-only tools run in parallel, the others one after the other; a step's start shows which one is next. */
function begin(view: Growing, { at, data }: EventOf<"step.started">): Partial<AgentView> {
  const isNext = (tool: ToolView) => tool.name === data.name && !tool.used && !tool.startedAt;
  if (!isModelStep(data.name)) change(view, view.turn, isNext, { startedAt: at });
  return {};
}

function change(
  view: Growing,
  turn: number,
  isIt: (tool: ToolView) => boolean,
  changes: Partial<ToolView>,
): void {
  const at = view.pieces.findLastIndex((piece) => piece.kind === "turn" && piece.said.turn === turn);
  const piece = view.pieces[at];
  if (piece?.kind !== "turn") return;
  const which = piece.tools.findIndex(isIt);
  const tool = piece.tools[which];
  if (tool) view.pieces[at] = { ...piece, tools: piece.tools.with(which, { ...tool, ...changes }) };
}

function answer(view: Growing, data: EventOf<"gate.answered">["data"]): Partial<AgentView> {
  const at = view.pieces.findLastIndex(({ key }) => key === data.gate_id);
  const piece = view.pieces[at];
  if (piece?.kind === "gate") view.pieces[at] = { ...piece, answer: data };
  return {};
}

function sum(one: Usage, other: Usage): Usage {
  return {
    input: one.input + other.input,
    output: one.output + other.output,
    cache_read: one.cache_read + other.cache_read,
    cache_write: one.cache_write + other.cache_write,
  };
}
