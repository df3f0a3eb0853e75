/** `1 skill`, `3 skills`. */
export const count = (number: number, one: string): string => `${number} ${one}${number === 1 ? "" : "s"}`;
