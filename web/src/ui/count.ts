/** `1 skill`, `3 skills`; `2 memories` with an irregular plural. */
export const count = (number: number, one: string, many = `${one}s`): string =>
  `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
