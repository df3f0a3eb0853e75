import { textOf } from "@/ui/address";

/** What the address says: which file, which line, what to look for; or that a workspace is to be made. */
export type Place = { file?: string | undefined; line?: number | undefined; q?: string | undefined };
export type Wish = { new?: true | undefined };

/** Whatever else is there is dropped, not an error: addresses are typed by hand. */
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

/** The directories above a path, outermost first: `a/b/c.py` has `a` and `a/b`. */
export function parentsOf(path: string): string[] {
  const names = path.split("/").slice(0, -1);
  return names.map((_, index) => names.slice(0, index + 1).join("/"));
}
