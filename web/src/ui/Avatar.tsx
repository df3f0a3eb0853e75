import { clsx } from "clsx";
import type { Identity } from "@/api/types";

const SIZES = { sm: "size-6 rounded-md text-sm", md: "size-9 rounded-lg text-lg" };

/** A bot's avatar. Decorative: its name is always shown beside it. */
export function Avatar({
  of: { avatar, colour },
  size = "md",
}: {
  of: Pick<Identity, "avatar" | "colour">;
  size?: keyof typeof SIZES;
}) {
  return (
    <span
      aria-hidden
      className={clsx("inline-grid shrink-0 place-items-center overflow-hidden border", SIZES[size])}
      style={{
        background: `color-mix(in oklab, ${colour} 18%, var(--surface))`,
        borderColor: `color-mix(in oklab, ${colour} 45%, var(--surface))`,
      }}
    >
      {avatar}
    </span>
  );
}
