/** The five meanings of colors. Always used with a word, never alone. */
export type Tone = "run" | "ok" | "wait" | "bad" | "idle";

export const INK: Record<Tone, string> = {
  run: "text-run",
  ok: "text-ok",
  wait: "text-wait",
  bad: "text-bad",
  idle: "text-dim",
};

export const FILL: Record<Tone, string> = {
  run: "bg-run",
  ok: "bg-ok-fill",
  wait: "bg-wait-fill",
  bad: "bg-bad",
  idle: "bg-faint",
};
