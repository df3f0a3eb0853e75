/** Read a string from search params, which parse digits as numbers. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === "string" || typeof value === "number" ? String(value) || undefined : undefined;
