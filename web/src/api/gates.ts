/** Questions that wait for a person. */
import { queryOptions } from "@tanstack/react-query";
import { http, unwrap } from "./client";
import type { Gate } from "./types";

export const openGatesQuery = queryOptions<Gate[]>({
  queryKey: ["gates", "open"],
  queryFn: ({ signal }) =>
    unwrap(http.GET("/api/v1/gates", { params: { query: { status: "open" } }, signal })),
});

export type GateAnswer = { gate: Gate; option: string; comment: string };

/** `shown_hash` says what the person saw: an answer to something else is refused. */
export function answerGate({ gate, option, comment }: GateAnswer): Promise<Gate> {
  return unwrap(
    http.POST("/api/v1/gates/{gate_id}/answer", {
      params: { path: { gate_id: gate.id } },
      body: { option, comment, shown_hash: gate.shown_hash },
    }),
  );
}

/** The open gates after one of them changed: newest first, settled ones gone. */
export function withGate(gates: readonly Gate[], changed: Gate): Gate[] {
  const others = gates.filter((gate) => gate.id !== changed.id);
  if (changed.status !== "open") return others;
  return [...others, changed].sort((a, b) => b.opened_at.localeCompare(a.opened_at));
}
