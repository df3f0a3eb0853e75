/** Converts anything that was thrown to a message, a hint and details to copy. */
export type ShownProblem = { message: string; hint: string | null; details: string };

type Known = { code?: unknown; message?: unknown; hint?: unknown; requestId?: unknown; stack?: unknown };

export function toProblem(error: unknown): ShownProblem {
  const known: Known = typeof error === "object" && error !== null ? error : { message: error };
  const message =
    typeof known.message === "string" && known.message ? known.message : "Something went wrong.";
  return {
    message,
    hint: typeof known.hint === "string" ? known.hint : null,
    details: details(known, message),
  };
}

function details(known: Known, message: string): string {
  const facts = [
    ["message", message],
    ["hint", known.hint],
    ["code", known.code],
    ["request", known.requestId],
    ["page", window.location.pathname],
    ["time", new Date().toISOString()],
    ["browser", navigator.userAgent],
    ["stack", known.stack],
  ];
  return facts
    .filter(([, value]) => typeof value === "string" && value !== "")
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");
}
