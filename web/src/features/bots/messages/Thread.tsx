import { Link } from "@tanstack/react-router";
import { ArrowRight, Bot, User, Workflow } from "lucide-react";
import type { BotMessage, MessageDelivery, MessageSender } from "@/api/types";
import { Badge } from "@/ui/Badge";
import { InlineText } from "@/ui/InlineText";
import { JsonView } from "@/ui/JsonView";
import { Markdown } from "@/ui/Markdown";
import { formatMicros } from "@/ui/money";
import { Ago } from "@/ui/Time";
import { DELIVERIES, recipientWord, senderWord, typeWord } from "./words";

const LINK = "rounded-sm text-dim underline decoration-strong underline-offset-2 hover:text-ink";
const ICONS = { person: User, bot: Bot, workflow: Workflow };

/** The messages of one conversation. */
export function Thread({ slug, messages }: { slug: string; messages: readonly BotMessage[] }) {
  return (
    <div className="rounded-lg border border-line bg-surface">
      <ol className="divide-y divide-line">
        {messages.map((message) => (
          <li key={message.id} className="space-y-1.5 px-3 py-2.5">
            <Head message={message} />
            {typeof message.body === "string" ? (
              <Markdown text={message.body} />
            ) : (
              <JsonView value={message.body} name={`message-${message.id.slice(0, 8)}`} />
            )}
            {message.deliveries.map((delivery) => (
              <Delivered key={delivery.bot_id} delivery={delivery} isItself={delivery.bot === slug} />
            ))}
          </li>
        ))}
      </ol>
    </div>
  );
}

function Head({ message }: { message: BotMessage }) {
  const { sender, recipient, message_type, created_at } = message;
  const Icon = ICONS[sender.type];
  return (
    <p className="flex flex-wrap items-center gap-x-2 gap-y-0.5">
      <Icon size={13} aria-hidden className="text-faint" />
      <From sender={sender} />
      <ArrowRight size={12} aria-label="to" className="text-faint" />
      <span className={recipient.type === "sender" ? "" : "mono"}>{recipientWord(recipient)}</span>
      <span className="text-xs text-faint">{typeWord(message_type)}</span>
      <Ago at={created_at} className="mono ml-auto text-faint" />
    </p>
  );
}

function From({ sender }: { sender: MessageSender }) {
  if (sender.type !== "workflow") return <span className="font-medium">{senderWord(sender)}</span>;
  return (
    <Link to="/workflows/runs/$runId" params={{ runId: sender.run_id }} className={`font-medium ${LINK}`}>
      {sender.name}
    </Link>
  );
}

/** The delivery to one bot, with links to its conversation and run. */
function Delivered({ delivery, isItself }: { delivery: MessageDelivery; isItself: boolean }) {
  const { bot, status, session_id: sessionId, run_id: runId, error, cost_micros } = delivery;
  const { word, tone } = DELIVERIES[status];
  return (
    <div className="text-xs">
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
        {!isItself && <span className="mono text-dim">{bot}</span>}
        <Badge tone={tone}>{word}</Badge>
        {sessionId && (
          <Link to="/bots/$slug/chat/{-$sessionId}" params={{ slug: bot, sessionId }} className={LINK}>
            Open conversation
          </Link>
        )}
        {runId && status !== "answered" && status !== "silent" && (
          <Link to="/runs/$runId" params={{ runId }} className={LINK}>
            Open delivery
          </Link>
        )}
        {cost_micros > 0 && <span className="mono text-dim">{formatMicros(cost_micros)}</span>}
      </p>
      {error && (
        <p className="mt-1 break-words text-bad">
          <InlineText text={error.message} /> {error.hint && <InlineText text={error.hint} />}
        </p>
      )}
    </div>
  );
}
