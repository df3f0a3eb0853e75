/** The search params of the source tab. */
export type Place = { file?: string | undefined };

/** Invalid params are ignored, since addresses can be typed by hand. */
export const readPlace = ({ file }: Record<string, unknown>): Place => ({
  file: typeof file === "string" && file ? file : undefined,
});
