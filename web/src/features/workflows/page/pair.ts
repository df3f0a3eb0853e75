/** What the address of the versions says: which one, and which other one beside it. */
export type Pair = { version?: number | undefined; with?: number | undefined };

const number = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isInteger(value) && value > 0 ? value : undefined;

/** Whatever else is there is dropped, not an error: addresses are typed by hand. */
export function readPair(search: Record<string, unknown>): Pair {
  return { version: number(search.version), with: number(search.with) };
}
