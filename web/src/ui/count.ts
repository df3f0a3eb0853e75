/** `1 skill`, `3 skills`; `2 memories` where the plural is another word. */
export const count = (number: number, one: string, many = `${one}s`): string =>
  `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
