import { ChevronRight } from "lucide-react";
import { type ReactNode, useState } from "react";

type Props = {
  title: ReactNode;
  /** The initial state; afterwards only the person toggles it. */
  isOpen?: boolean;
  children: ReactNode;
};

/** A section that can be expanded. */
export function Disclosure({ title, isOpen = false, children }: Props) {
  const [first] = useState(isOpen);
  return (
    <details className="group" open={first || undefined}>
      <summary className="flex w-fit cursor-pointer list-none items-center gap-1 rounded-sm text-xs font-medium text-dim hover:text-ink">
        <ChevronRight size={13} aria-hidden className="transition-transform group-open:rotate-90" /> {title}
      </summary>
      <div className="mt-2 space-y-3">{children}</div>
    </details>
  );
}
