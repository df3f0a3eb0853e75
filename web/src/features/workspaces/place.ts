import { textOf } from "@/ui/address";

/** The search params of the workspace pages. */
export type Place = { file?: string | undefined; line?: number | undefined; q?: string | undefined };
export type Wish = { new?: true | undefined };

/** Invalid params are ignored, since addresses can be typed by hand. */
export function readPlace({ file, line, q }: Record<string, unknown>): Place {
  const number = Number(line);
  return {
    file: textOf(file),
    line: Number.isInteger(number) && number > 0 ? number : undefined,
    q: textOf(q),
  };
}

export const readWish = ({ new: wish }: Record<string, unknown>): Wish => ({
  new: wish === true ? true : undefined,
});

/** The parent directories of a path, outermost first: `a` and `a/b` for `a/b/c.py`. */
export function parentsOf(path: string): string[] {
  const names = path.split("/").slice(0, -1);
  return names.map((_, index) => names.slice(0, index + 1).join("/"));
}
