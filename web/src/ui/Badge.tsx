import { clsx } from "clsx";
import type { ReactNode } from "react";
import { FILL, INK, type Tone } from "./tone";

export function Dot({ tone, className }: { tone: Tone; className?: string }) {
  const look = tone === "idle" ? "border border-faint" : FILL[tone];
  return (
    <span
      aria-hidden
      className={clsx(
        "inline-block size-2 shrink-0 rounded-full",
        look,
        tone === "run" && "pulse",
        className,
      )}
    />
  );
}

/** A status: a dot and a word. */
export function Badge({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <span
      className={clsx(
        "inline-flex h-5 shrink-0 items-center gap-1.5 rounded-full border border-line bg-raised px-2 text-xs font-medium whitespace-nowrap",
        INK[tone],
      )}
    >
      <Dot tone={tone} className="size-1.5" /> {children}
    </span>
  );
}
