import { clsx } from "clsx";
import { ChevronRight } from "lucide-react";
import { type ReactNode, useId } from "react";
import { CopyButton } from "@/ui/CopyButton";
import { useOpened } from "./opened";

/** A line that expands. */
export function Unfold({ id, line, children }: { id: string; line: ReactNode; children: ReactNode }) {
  const { isOpen, toggle } = useOpened(id);
  const body = useId();
  return (
    <div className={clsx("rounded-md border", isOpen ? "border-line bg-surface" : "border-transparent")}>
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls={isOpen ? body : undefined}
        onClick={toggle}
        className="group flex min-h-7 w-full items-center gap-2 rounded-md px-1.5 py-0.5 text-left hover:bg-raised pointer-coarse:min-h-9"
      >
        {line}
        <ChevronRight
          size={13}
          aria-hidden
          className={clsx("shrink-0 text-faint transition-transform", isOpen && "rotate-90")}
        />
      </button>
      {isOpen && (
        <div id={body} className="space-y-2 px-2 pt-1 pb-2">
          {children}
        </div>
      )}
    </div>
  );
}

type VerbatimProps = {
  label: string;
  /** The ID of its owner, for a unique label. */
  of: string;
  text: string;
  note?: string | undefined;
};

/** Machine output in a scrollable box with a copy button. */
export function Verbatim({ label, of, text, note }: VerbatimProps) {
  return (
    <div>
      <div className="flex h-6 items-center gap-2 text-xs text-dim">
        <span className="font-medium">{label}</span>
        {note && <span className="text-faint">{note}</span>}
        <span className="-mr-1 ml-auto">
          <CopyButton text={text} label={`Copy ${label.toLowerCase()}`} iconOnly />
        </span>
      </div>
      <section
        aria-label={`${label} of ${of}`}
        tabIndex={0}
        className="max-h-80 overflow-auto rounded-md border border-line bg-bg px-2.5 py-2"
      >
        <pre className="mono break-words whitespace-pre-wrap">
          {text || <span className="text-faint">empty</span>}
        </pre>
      </section>
    </div>
  );
}
