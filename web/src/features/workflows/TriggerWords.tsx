import type { WorkflowTrigger } from "@/api/types";
import { TRIGGERS } from "./words";

/** The triggers of a workflow in one line, with broken ones marked. */
export function TriggerWords({ triggers }: { triggers: readonly WorkflowTrigger[] }) {
  const shown = triggers.filter(({ type }) => type !== "manual");
  if (shown.length === 0) return <span className="text-faint">{TRIGGERS.manual.word}</span>;
  return (
    <ul className="flex min-w-0 flex-wrap gap-x-3 gap-y-0.5">
      {shown.map(({ type, title, error }) => {
        const { icon: Icon, word } = TRIGGERS[type];
        return (
          <li
            key={`${type} ${title}`}
            className="flex max-w-full min-w-0 items-center gap-1.5"
            title={error ?? word}
          >
            <Icon size={12} aria-hidden className={error ? "shrink-0 text-bad" : "shrink-0 text-faint"} />
            <span className="sr-only">{word}: </span>
            <span className="min-w-0 truncate">{title}</span>
            {error && <span className="shrink-0 text-xs text-bad">broken</span>}
          </li>
        );
      })}
    </ul>
  );
}
