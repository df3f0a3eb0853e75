/** The search params of the versions tab. */
export type Pair = { version?: number | undefined; with?: number | undefined };

const number = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isInteger(value) && value > 0 ? value : undefined;

/** Invalid params are ignored, since addresses can be typed by hand. */
export function readPair(search: Record<string, unknown>): Pair {
  return { version: number(search.version), with: number(search.with) };
}
