/** Questions that are waiting for a person. */
import { queryOptions } from "@tanstack/react-query";
import { http, unwrap } from "./client";
import type { EventOf, Gate } from "./types";

export const openGatesQuery = queryOptions<Gate[]>({
  queryKey: ["gates", "open"],
  queryFn: ({ signal }) =>
    unwrap(http.GET("/api/v1/gates", { params: { query: { status: "open" } }, signal })),
});

export type GateAnswer = { gate: Gate; option: string; comment: string };

/** `shown_hash` identifies what the person saw; the server rejects an answer to anything else. */
export function answerGate({ gate, option, comment }: GateAnswer): Promise<Gate> {
  return unwrap(
    http.POST("/api/v1/gates/{gate_id}/answer", {
      params: { path: { gate_id: gate.id } },
      body: { option, comment, shown_hash: gate.shown_hash },
    }),
  );
}

/** Update the open gates after one of them changed: newest first, settled ones removed. */
export function withGate(gates: readonly Gate[], changed: Gate): Gate[] {
  const others = gates.filter((gate) => gate.id !== changed.id);
  if (changed.status !== "open") return others;
  return [...others, changed].sort((a, b) => b.opened_at.localeCompare(a.opened_at));
}

type Moved = EventOf<"gate.opened" | "gate.answered" | "gate.expired" | "gate.closed">;

/** Apply a gate event to the gates of a run. A gate reopened after a crash is not duplicated. */
export function foldGates(gates: readonly Gate[], event: Moved): readonly Gate[] {
  switch (event.type) {
    case "gate.opened":
      return [...gates.filter((gate) => gate.id !== event.data.gate.id), event.data.gate];
    case "gate.answered":
      return answered(gates, event);
    case "gate.expired":
      return settled(gates, event.data.gate_id, "expired");
    case "gate.closed":
      return settled(gates, event.data.gate_id, "closed");
  }
}

function settled(gates: readonly Gate[], id: string, status: Gate["status"]): readonly Gate[] {
  return gates.map((gate) => (gate.id === id ? { ...gate, status } : gate));
}

function answered(gates: readonly Gate[], { at, data }: EventOf<"gate.answered">): readonly Gate[] {
  const answer = {
    option: data.option,
    comment: data.comment,
    answered_by: data.answered_by,
    answered_at: at,
  };
  return gates.map((gate) => (gate.id === data.gate_id ? { ...gate, status: "answered", answer } : gate));
}
