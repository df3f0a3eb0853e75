import type { ReactNode } from "react";

type Props = { label: string; title: ReactNode; actions?: ReactNode; children: ReactNode };

/** A panel beside the canvas, or below it on narrow screens. */
export function SidePanel({ label, title, actions, children }: Props) {
  return (
    <section
      aria-label={label}
      tabIndex={-1}
      data-panel
      className="flex min-h-0 shrink-0 flex-col border-line bg-surface outline-none max-lg:border-t lg:w-[380px] lg:border-l"
    >
      <header className="flex h-10 shrink-0 items-center gap-2 border-b border-line pr-1.5 pl-3">
        <h2 className="flex min-w-0 items-center gap-2 font-semibold">{title}</h2>
        <div className="ml-auto flex items-center">{actions}</div>
      </header>
      <div className="min-h-0 flex-1 space-y-3 overflow-auto p-3">{children}</div>
    </section>
  );
}
