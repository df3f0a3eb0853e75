import { clsx } from "clsx";

/** A placeholder for loading content, shown after 200 ms. */
export function Skeleton({ className }: { className?: string }) {
  return <span aria-hidden className={clsx("block h-3 rounded-sm bg-raised", className)} />;
}

const WIDTHS = ["w-2/5", "w-3/5", "w-1/3", "w-1/2"];

export function SkeletonRows({ rows = 4, label = "Loading" }: { rows?: number; label?: string }) {
  return (
    <div role="status" aria-label={label} className="appear-late">
      {Array.from({ length: rows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all alike and never move
        <div key={index} className="flex h-9 items-center gap-3 px-3">
          <span aria-hidden className="size-2 shrink-0 rounded-full bg-raised" />
          <Skeleton className={WIDTHS[index % WIDTHS.length] ?? ""} />
          <Skeleton className="ml-auto w-12 shrink-0" />
        </div>
      ))}
    </div>
  );
}
