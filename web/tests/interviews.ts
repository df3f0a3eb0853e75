/** Interviews for tests: short to write, true to the schema. */
import type { Event, Interview, InterviewTurn } from "@/api/types";
import { time } from "./events";

export const SESSION = "01890000-0000-7000-8000-000000000001";

export const question = (words: string, ...labels: string[]): InterviewTurn => ({
  action: "ask_question",
  phase: "basics",
  question: words,
  options: labels.map((label) => ({ id: label, label, reason: "Why not.", description: "Why not." })),
  allow_free_text: true,
  phase_label: null,
});

export function interview(changes: Partial<Interview> = {}): Interview {
  return {
    session_id: SESSION,
    mode: "bot",
    initial_description: "Stories for children",
    phase: "basics",
    question_count: 0,
    state_summary: { phase: "basics", question_count: 0 },
    turn: question("What shall it be called?", "Quill", "Inky"),
    revision: 1,
    due: null,
    spoken_by: { speaker: "guide", model: null, why: null, can_switch: false },
    preview: {
      name: null,
      description: "Stories for children",
      personality_summary: null,
      model: null,
      skills: [],
      phase: "basics",
      fields: {},
      missing: ["a name"],
    },
    lines: [],
    back_to: [],
    bot_slug: null,
    skill_name: null,
    trial: null,
    made: null,
    cost_micros: 0,
    created_at: time(0),
    updated_at: time(0),
    ...changes,
  };
}

const stream = `interview:${SESSION}`;

export const turned = (session: Interview): Event => ({
  stream,
  seq: session.revision,
  at: time(session.revision),
  type: "interview.turned",
  data: { session },
});

export const wrote = (text: string): Event => ({
  stream,
  seq: null,
  at: time(0),
  type: "interview.delta",
  data: { text },
});

export const deleted: Event = {
  stream,
  seq: 99,
  at: time(99),
  type: "interview.deleted",
  data: { session_id: SESSION },
};
