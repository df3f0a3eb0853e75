import type { ReactNode } from "react";

/** An empty list: one sentence, one action, one example. */
export function EmptyState({
  title,
  sentence,
  action,
  example,
}: {
  title: string;
  sentence: ReactNode;
  action?: ReactNode;
  example?: ReactNode;
}) {
  return (
    <div className="mx-auto flex max-w-[440px] flex-col items-center gap-3 px-4 py-10 text-center">
      <div>
        <p className="text-base font-semibold">{title}</p>
        <p className="mt-1 text-dim">{sentence}</p>
      </div>
      {action}
      {example && <div className="text-xs text-dim">{example}</div>}
    </div>
  );
}
