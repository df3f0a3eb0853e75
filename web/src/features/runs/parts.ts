/** Which part of a run's page handles an event. A new event type does not compile until it is listed here. */
import type { Event, EventOf, EventType } from "@/api/types";

type Part = "run" | "agent" | "audit" | "elsewhere";

const PARTS = {
  "run.created": "run",
  "run.started": "run",
  "run.progress": "run",
  "run.waiting": "run",
  "run.resumed": "run",
  "run.completed": "run",
  "run.failed": "run",
  "run.cancelled": "run",
  "step.started": "run",
  "step.finished": "run",
  "gate.opened": "run",
  "gate.answered": "run",
  "gate.expired": "run",
  "gate.closed": "run",
  "agent.started": "agent",
  "agent.turn": "agent",
  "agent.tool": "agent",
  "agent.compacted": "agent",
  "agent.heard": "agent",
  "agent.reminded": "agent",
  "agent.verified": "agent",
  "agent.ended": "agent",
  "audit.started": "audit",
  "audit.check": "audit",
  "audit.finished": "audit",
  "audit.recorded": "audit",
  // Shown in the transcript or the report, not in the log.
  "agent.delta": "elsewhere",
  "audit.findings": "elsewhere",
  // Events of the canvas and of other streams.
  "workflow.step": "elsewhere",
  "workflow.log": "elsewhere",
  "workflow.changed": "elsewhere",
  "workflow.refused": "elsewhere",
  "run.changed": "elsewhere",
  "gate.changed": "elsewhere",
  "bot.changed": "elsewhere",
  "chat.asked": "elsewhere",
  "chat.resumed": "elsewhere",
  "chat.retrying": "elsewhere",
  "chat.answered": "elsewhere",
  "chat.skill": "elsewhere",
  "chat.changed": "elsewhere",
  "chat.summarised": "elsewhere",
  "chat.remembered": "elsewhere",
  "chat.delta": "elsewhere",
  "interview.turned": "elsewhere",
  "interview.finished": "elsewhere",
  "interview.deleted": "elsewhere",
  "interview.delta": "elsewhere",
  "interviews.changed": "elsewhere",
  "skill.changed": "elsewhere",
  "skill.invoked": "elsewhere",
  "message.sent": "elsewhere",
  "message.answered": "elsewhere",
} as const satisfies Record<EventType, Part>;

type TypeFor<Wanted extends Part> = {
  [Type in EventType]: (typeof PARTS)[Type] extends Wanted ? Type : never;
}[EventType];
export type EventFor<Wanted extends Part> = EventOf<TypeFor<Wanted>>;

export function isFor<Wanted extends Part>(part: Wanted, event: Event): event is EventFor<Wanted> {
  return PARTS[event.type] === part;
}

/** A newer server may send unknown event types. */
export const isKnown = ({ type }: Event): boolean => Object.hasOwn(PARTS, type);
