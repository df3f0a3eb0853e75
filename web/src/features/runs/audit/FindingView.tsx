import type { Finding } from "@/api/types";
import { withCommands } from "@/ui/audit/commands";
import { SeverityWord } from "@/ui/audit/Verdict";
import { CopyButton } from "@/ui/CopyButton";
import { InlineText } from "@/ui/InlineText";
import { placeOf } from "./filter";

type Props = { finding: Finding; saysWhy: boolean; at: number; of: number };

/**
 * One finding with its location, fix and the command to reproduce it. Only the first finding with the same reason shows
 * it.
 */
export function FindingView({ finding, saysWhy, at, of }: Props) {
  const { check, severity, rule, message, excerpt, fix, why, reproduce, known } = finding;
  return (
    <article
      tabIndex={-1}
      aria-posinset={at + 1}
      aria-setsize={of}
      aria-label={`${check}, ${severity}: ${placeOf(finding)}`}
      className="border-b border-line px-3 py-2.5 -outline-offset-2 focus:bg-raised/50"
    >
      <header className="flex flex-wrap items-center gap-x-3 gap-y-0.5">
        <SeverityWord severity={severity} />
        <span className="mono text-dim">{check}</span>
        <span className="mono min-w-0 font-medium break-all">{placeOf(finding)}</span>
        {known && <KnownMark known={known} />}
        <span className="mono ml-auto shrink-0 text-faint max-sm:hidden">{rule}</span>
        <CopyButton text={reproduce} label="Copy command" look="ghost" isShown />
      </header>
      <p className="break-words">
        <InlineText text={message} />
      </p>
      {excerpt && (
        <pre className="mono mt-1 overflow-hidden rounded-md border border-line bg-bg px-2 py-1 break-all whitespace-pre-wrap">
          {excerpt}
        </pre>
      )}
      <p className="mt-1 break-words">
        <span className="mr-1.5 text-xs font-medium text-dim">Fix</span>
        <InlineText text={withCommands(fix)} />
      </p>
      {saysWhy && (
        <p className="text-xs break-words text-dim">
          <span className="mr-1.5 font-medium">Why</span>
          <InlineText text={why} />
        </p>
      )}
    </article>
  );
}

function KnownMark({ known }: { known: NonNullable<Finding["known"]> }) {
  const until = known.until ? ` until ${known.until}` : "";
  return (
    <span
      title={`${known.reason} (since ${known.since})`}
      className="rounded-sm border border-line px-1.5 text-xs text-dim"
    >
      known{until}
    </span>
  );
}
