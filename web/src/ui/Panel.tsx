import { clsx } from "clsx";
import { type ReactNode, useId } from "react";

/** A titled box. */
export function Panel({
  title,
  count,
  actions,
  children,
  className,
  tone,
}: {
  title: string;
  count?: number;
  actions?: ReactNode;
  children: ReactNode;
  className?: string;
  tone?: "wait" | "bad";
}) {
  const id = useId();
  return (
    <section
      aria-labelledby={id}
      className={clsx(
        "flex min-w-0 flex-col rounded-lg border",
        tone === "wait" ? "wash-wait" : tone === "bad" ? "wash-bad" : "border-line bg-surface",
        className,
      )}
    >
      <header className="flex h-9 shrink-0 items-center gap-2 border-b border-inherit px-3">
        <h2 id={id} className="text-xs font-semibold text-dim">
          {title}
        </h2>
        {count !== undefined && <span className="mono text-faint">{count}</span>}
        <div className="ml-auto flex items-center gap-1">{actions}</div>
      </header>
      {children}
    </section>
  );
}
