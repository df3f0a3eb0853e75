import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Undo2 } from "lucide-react";
import type { ReactNode } from "react";
import { refreshBot, restoreBot } from "@/api/bots";
import type { Bot } from "@/api/types";
import { Avatar } from "@/ui/Avatar";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { count } from "@/ui/count";
import { formatMicros } from "@/ui/money";
import { Ago, useNow } from "@/ui/Time";
import { toast } from "@/ui/toast";
import { daysLeft, stateOf } from "../state";

const CARD = "flex h-full flex-col gap-2 rounded-lg border border-line bg-surface p-3";

/** A bot in the grid, linked to its page. A deleted bot can only be restored. */
export function BotCard({ bot }: { bot: Bot }) {
  if (bot.deleted_at) {
    return (
      <article className={CARD}>
        <Head bot={bot} />
        <Restore bot={bot} deletedAt={bot.deleted_at} />
      </article>
    );
  }
  return (
    <Link
      to="/bots/$slug/chat/{-$sessionId}"
      params={{ slug: bot.slug }}
      data-row
      className={`${CARD} hover:border-strong hover:bg-raised/40`}
    >
      <Head bot={bot} />
      <p className="line-clamp-2 min-h-10 break-words text-dim">
        {bot.identity.description || <span className="text-faint">No description.</span>}
      </p>
      {bot.blocked && bot.status === "active" && (
        <p className="line-clamp-2 text-xs break-words text-wait">{bot.blocked}</p>
      )}
      <Figures bot={bot} />
    </Link>
  );
}

function Head({ bot }: { bot: Bot }) {
  const { word, tone } = stateOf(bot);
  return (
    <div className="flex items-center gap-2.5">
      <Avatar of={bot.identity} />
      <div className="min-w-0 flex-1">
        <div className="flex items-baseline gap-2">
          <h2 className="truncate font-semibold">{bot.identity.display_name}</h2>
          <span className="mono min-w-8 shrink-[999] truncate text-xs text-faint" title={bot.slug}>
            {bot.slug}
          </span>
        </div>
        <p className="mono truncate text-faint" title={bot.model}>
          {bot.model}
        </p>
      </div>
      <Badge tone={tone}>{word}</Badge>
    </div>
  );
}

function Figures({ bot }: { bot: Bot }) {
  return (
    <dl className="mt-auto flex items-baseline gap-3 border-t border-line pt-2 text-xs text-dim">
      <Figure name="Conversations">{count(bot.sessions, "conversation")}</Figure>
      <Figure name="Spent">
        <span className="mono">{formatMicros(bot.spent_micros)}</span>
      </Figure>
      <Figure name="Last active" isLast>
        {bot.last_active_at ? <Ago at={bot.last_active_at} /> : "never used"}
      </Figure>
    </dl>
  );
}

function Figure({ name, isLast = false, children }: { name: string; isLast?: boolean; children: ReactNode }) {
  return (
    <div className={isLast ? "ml-auto" : ""}>
      <dt className="sr-only">{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Restore({ bot, deletedAt }: { bot: Bot; deletedAt: string }) {
  const cache = useQueryClient();
  const days = daysLeft(deletedAt, useNow());
  const restore = useMutation({
    mutationFn: restoreBot,
    onSuccess: ({ slug, identity }) => {
      toast.ok(`Restored ${identity.display_name}.`);
      refreshBot(cache, { slug, part: "bot" });
    },
  });
  return (
    <div className="mt-auto flex items-center gap-2 pt-2">
      <p className="text-xs text-dim">
        Deleted <Ago at={deletedAt} />, permanently deleted in {count(days, "day")}.
      </p>
      <Button
        className="ml-auto"
        disabled={restore.isPending}
        aria-label={`Restore ${bot.identity.display_name}`}
        onClick={() => restore.mutate(bot)}
      >
        <Undo2 size={13} aria-hidden /> Restore
      </Button>
    </div>
  );
}
