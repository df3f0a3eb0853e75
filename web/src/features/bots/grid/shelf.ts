/** The search params of the bot list. */
import type { BotFilter } from "@/api/bots";
import type { BotSort } from "@/api/types";
import { textOf } from "@/ui/address";

export const SHOWN = ["all", "active", "disabled", "archived", "deleted"] as const;
export type Shown = (typeof SHOWN)[number];
export const SORTS: readonly { value: BotSort; label: string }[] = [
  { value: "activity", label: "Last active" },
  { value: "name", label: "Name" },
  { value: "created", label: "Newest" },
];

export type Shelf = {
  q?: string | undefined;
  show?: Shown | undefined;
  sort?: BotSort | undefined;
  new?: true | undefined;
};

/** Invalid params are ignored, since addresses can be typed by hand. */
export function readShelf({ q, show, sort, new: wish }: Record<string, unknown>): Shelf {
  return {
    q: textOf(q),
    show: SHOWN.find((one) => one === show && one !== "all"),
    sort: SORTS.find(({ value }) => value === sort && value !== "activity")?.value,
    new: wish === true ? true : undefined,
  };
}

export function filterOf({ show = "all", sort = "activity" }: Shelf): BotFilter {
  if (show === "deleted") return { deleted: true, sort };
  return show === "all" ? { sort } : { statuses: [show], sort };
}
