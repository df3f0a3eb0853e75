const FIRST_MS = 500;
const LONGEST_MS = 30_000;

/** Return the delay before reconnection number `attempt` (from 0): exponential, capped, half of it random. */
export function backoff(attempt: number, random: () => number = Math.random): number {
  const ceiling = Math.min(LONGEST_MS, FIRST_MS * 2 ** attempt);
  return ceiling / 2 + (ceiling / 2) * random();
}
