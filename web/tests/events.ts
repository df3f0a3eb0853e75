/** Events, gates and runs for tests: short to write, true to the schema. */
import type { Event, EventOf, EventType, Gate, Run } from "@/api/types";

const START = Date.UTC(2026, 10, 15, 12, 0, 0);

/** An event at second `seq` of the test's run. */
export function event<Type extends EventType>(
  seq: number,
  type: Type,
  data: EventOf<Type>["data"],
  stream = "run:r1",
): Event {
  return { stream, seq, at: time(seq), type, data } as Event;
}

/** An event that is only told to those who listen. There need not be such a type: only its form matters here. */
export const whisper = (text: string, stream = "run:r1") =>
  ({ stream, seq: null, at: time(0), type: "test.whisper", data: { text } }) as unknown as Event;

export const time = (second: number): string => new Date(START + second * 1000).toISOString();

export function gate(changes: Partial<Gate> = {}): Gate {
  return {
    id: "g1",
    run_id: "r1",
    kind: "approval",
    title: "Run the migration?",
    body: "",
    payload: {},
    options: [
      { id: "approve", label: "Approve", tone: "positive" },
      { id: "reject", label: "Reject", tone: "negative" },
    ],
    shown_hash: "a".repeat(64),
    status: "open",
    answer: null,
    opened_at: time(0),
    expires_at: null,
    ...changes,
  };
}

export function run(changes: Partial<Run> = {}): Run {
  return {
    id: "r1",
    kind: "self_test",
    title: "Self-test",
    status: "running",
    parent_id: null,
    attempt: 1,
    progress: null,
    output: null,
    error: null,
    created_at: time(0),
    started_at: time(1),
    finished_at: null,
    ...changes,
  };
}
