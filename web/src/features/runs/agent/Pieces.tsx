import { memo, type ReactNode } from "react";
import type { Interjection } from "@/api/types";
import { Badge } from "@/ui/Badge";
import { count } from "@/ui/count";
import { Markdown } from "@/ui/Markdown";
import { formatMicros, formatTokens } from "@/ui/money";
import { sandboxWords } from "@/ui/sandbox";
import { formatDuration } from "@/ui/time";
import type { Piece, Verification } from "./fold";
import { Turn } from "./Turn";
import { Unfold, Verbatim } from "./Unfold";
import { END, tokenWords, totalOf } from "./words";

type Result = Extract<Piece, { kind: "ended" }>["result"];

/** Renders the pieces of a transcript. */
export const PieceView = memo(function PieceView({ piece, isOver }: { piece: Piece; isOver: boolean }) {
  switch (piece.kind) {
    case "turn":
      return <Turn piece={piece} isOver={isOver} />;
    case "started":
      return (
        <Thin>
          {piece.started.role} · {count(piece.started.tools.length, "tool")}
          {piece.started.compact && ", described briefly for a small context window"} · commands{" "}
          {sandboxWords(piece.started.sandbox).word}
        </Thin>
      );
    case "heard":
      return piece.messages.map((message) => <Heard key={message.id} message={message} />);
    case "reminded":
      return <Said by="Forge" note="reminded the model" text={piece.text} />;
    case "verified":
      return <Verified id={piece.key} verification={piece.verification} />;
    case "compacted":
      return (
        <Thin>
          The conversation was compacted: {formatTokens(piece.compacted.tokens_before)} to{" "}
          {formatTokens(piece.compacted.tokens_after)} tokens
        </Thin>
      );
    case "gate":
      return <Thin>{gateWords(piece)}</Thin>;
    case "cancelled":
      return <Thin>Cancelled by {piece.by}</Thin>;
    case "ended":
      return <Ended result={piece.result} />;
  }
});

function Thin({ children }: { children: ReactNode }) {
  return (
    <p className="flex items-center gap-3 px-3 py-2 text-xs text-dim before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line max-sm:px-2">
      <span className="max-w-[80%] text-center break-words">{children}</span>
    </p>
  );
}

function gateWords({ gate, answer }: Extract<Piece, { kind: "gate" }>): string {
  if (!answer) return `Asked: ${gate.title}`;
  const option = gate.options.find(({ id }) => id === answer.option)?.label ?? answer.option;
  return `${gate.title} · ${answer.answered_by}: ${option}${answer.comment ? ` “${answer.comment}”` : ""}`;
}

/** A message from a person, set apart from the model's text. */
export function Said({ by, note, text }: { by: string; note?: ReactNode; text: string }) {
  return (
    <div className="px-3 py-2 sm:pl-[44px] max-sm:px-2">
      <div className="max-w-[72ch] rounded-lg border border-line bg-raised/60 px-3 py-2">
        <p className="mb-0.5 flex flex-wrap gap-x-2 text-xs text-dim">
          <span className="font-medium">{by}</span>
          {note}
        </p>
        <Markdown text={text} />
      </div>
    </div>
  );
}

function Heard({ message }: { message: Interjection }) {
  return <Said by={message.sent_by} text={message.text} />;
}

function Verified({ id, verification }: { id: string; verification: Verification }) {
  const { command, passed, summary, text, duration_ms } = verification;
  return (
    <div className="px-3 py-1 sm:pl-[38px] max-sm:px-2">
      <Unfold
        id={id}
        line={
          <>
            <Badge tone={passed ? "ok" : "bad"}>{passed ? "verified by Forge" : "not verified"}</Badge>
            <span className="mono min-w-0 truncate">{command}</span>
            <span className="min-w-0 flex-1 truncate text-dim">{summary}</span>
            <span className="mono shrink-0 text-faint">{formatDuration(duration_ms)}</span>
          </>
        }
      >
        <Verbatim label="Output" of={id} text={text} />
      </Unfold>
    </div>
  );
}

/** What the agent and Forge say about the result; null if neither says anything. */
function proofOf({ verified, verification }: Result): string | null {
  if (verification?.passed) return `Forge ran ${verification.command}: ${verification.summary}.`;
  if (verification)
    return `Forge ran ${verification.command}, which did not succeed: ${verification.summary}.`;
  if (verified === false) return "The agent did not verify the result.";
  return null;
}

function Ended({ result }: { result: Result }) {
  const { word, meaning, tone } = END[result.end];
  return (
    <section aria-label="End" className="px-3 pt-2 pb-3 sm:pl-[44px] max-sm:px-2">
      {result.verified != null && (
        <div className="max-w-[72ch] pb-2">
          <Markdown text={result.text} />
        </div>
      )}
      <div className="flex max-w-[72ch] flex-wrap items-center gap-x-3 gap-y-1 border-t border-line pt-3">
        <Badge tone={tone}>{word}</Badge>
        <span>
          {meaning} {proofOf(result)}
        </span>
        <span className="mono w-full text-dim">
          {count(result.turns, "turn")} · {count(result.tool_calls, "tool call")} ·{" "}
          <span title={tokenWords(result.usage)}>{formatTokens(totalOf(result.usage))} tokens</span> ·{" "}
          {formatMicros(result.cost_micros)}
        </span>
      </div>
    </section>
  );
}
