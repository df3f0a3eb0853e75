import { Brain } from "lucide-react";
import { memo, type ReactNode } from "react";
import { Markdown } from "@/ui/Markdown";
import { formatMicros, formatTokens } from "@/ui/money";
import { type Draft, shown } from "./draft";
import type { TurnPiece } from "./fold";
import { ToolCall } from "./ToolCall";
import { Unfold } from "./Unfold";
import { STOP, tokenWords, totalOf } from "./words";

/** One turn of the model with its tool calls. */
export const Turn = memo(function Turn({ piece, isOver }: { piece: TurnPiece; isOver: boolean }) {
  const { said, tools, key } = piece;
  const stopped = STOP[said.stop];
  return (
    <Numbered
      turn={said.turn}
      meta={
        <span title={`${said.model}\n${tokenWords(said.usage)}`}>
          {formatTokens(totalOf(said.usage))} tokens · {formatMicros(said.cost_micros)}
        </span>
      }
    >
      {said.thinking.trim() && <Thought id={`${key} thinking`} text={said.thinking} />}
      {said.text.trim() && <Words text={said.text} />}
      {stopped && <p className="py-1 text-wait">{stopped}</p>}
      {!said.text.trim() && tools.length === 0 && !stopped && <p className="text-faint">Empty answer.</p>}
      {tools.length > 0 && (
        <ul aria-label={`Tools of turn ${said.turn}`} className="-ml-1.5 space-y-px pt-1">
          {tools.map((tool, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the calls of a turn never move, and a model may repeat an id
            <li key={index}>
              <ToolCall id={`${key} tool ${index}`} tool={tool} isOver={isOver} />
            </li>
          ))}
        </ul>
      )}
    </Numbered>
  );
});

/** The turn being written. Only the end of the reasoning is shown, until the first text arrives. */
export function DraftTurn({ draft }: { draft: Draft }) {
  const text = shown(draft.text);
  return (
    <Numbered turn={draft.turn} meta={draft.attempt > 1 && `attempt ${draft.attempt}`}>
      {!text && (
        <p className="max-w-[72ch] whitespace-pre-line text-dim italic">{ending(shown(draft.thinking))}</p>
      )}
      {text && <Words text={text} isGrowing={!draft.isOver} />}
    </Numbered>
  );
}

const SHOWN_THOUGHT = 400;
const ending = (text: string): string =>
  text.length <= SHOWN_THOUGHT ? text : `… ${text.slice(-SHOWN_THOUGHT).replace(/^\S*\s/, "")}`;

function Numbered({ turn, meta, children }: { turn: number; meta: ReactNode; children: ReactNode }) {
  return (
    <article
      aria-label={`Turn ${turn}`}
      className="relative grid grid-cols-[24px_minmax(0,1fr)] gap-x-2 px-3 py-2 max-sm:grid-cols-1 max-sm:px-2"
    >
      <span aria-hidden className="mono pt-px text-right text-faint max-sm:hidden">
        {turn}
      </span>
      <div className="min-w-0">
        <div className="mono float-right ml-4 text-faint max-sm:hidden">{meta}</div>
        {children}
      </div>
    </article>
  );
}

function Words({ text, isGrowing = false }: { text: string; isGrowing?: boolean }) {
  return (
    <div className="max-w-[72ch] pb-1">
      <Markdown text={text} isGrowing={isGrowing} />
    </div>
  );
}

function Thought({ id, text }: { id: string; text: string }) {
  return (
    <div className="relative -top-1 -left-1.5 flow-root">
      <Unfold
        id={id}
        line={
          <>
            <Brain size={13} aria-hidden className="shrink-0 text-faint" />
            <span className="shrink-0 text-dim">Thought</span>
            <span className="min-w-0 flex-1 truncate text-faint">{text.trim().split("\n", 1)[0]}</span>
          </>
        }
      >
        <p className="max-h-80 overflow-auto whitespace-pre-line text-dim" tabIndex={0}>
          {text.trim()}
        </p>
      </Unfold>
    </div>
  );
}
