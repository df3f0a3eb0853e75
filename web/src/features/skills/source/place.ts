/** Which file of a skill is shown. */
export type Place = { file?: string | undefined };

/** Whatever else is there is dropped, not an error: addresses are typed by hand. */
export const readPlace = ({ file }: Record<string, unknown>): Place => ({
  file: typeof file === "string" && file ? file : undefined,
});
