import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link, Outlet } from "@tanstack/react-router";
import { Brain, Mail, MessageSquare, ScrollText, Settings2, Wrench } from "lucide-react";
import { botQuery } from "@/api/bots";
import { ApiError } from "@/api/client";
import type { Bot } from "@/api/types";
import { Avatar } from "@/ui/Avatar";
import { Badge } from "@/ui/Badge";
import { buttonClass } from "@/ui/Button";
import { EmptyState } from "@/ui/EmptyState";
import { formatMicros } from "@/ui/money";
import { Page } from "@/ui/Page";
import { Tabs, tabClass } from "@/ui/Tabs";
import { stateOf } from "../state";
import { BlockedBar } from "./BlockedBar";
import { BotMenu } from "./BotMenu";
import { Reconfigure } from "./Reconfigure";

const route = getRouteApi("/shell/bots/$slug");

const TABS = [
  { to: "/bots/$slug/chat/{-$sessionId}", label: "Chat", icon: MessageSquare },
  { to: "/bots/$slug/soul", label: "Soul", icon: ScrollText },
  { to: "/bots/$slug/memory", label: "Memory", icon: Brain },
  { to: "/bots/$slug/skills", label: "Skills", icon: Wrench },
  { to: "/bots/$slug/messages", label: "Messages", icon: Mail },
  { to: "/bots/$slug/settings", label: "Settings", icon: Settings2 },
] as const;

/** The frame of a bot's pages: header, tabs and the reason if it cannot answer. */
export function BotPage() {
  const { slug } = route.useParams();
  const { data: bot, error } = useSuspenseQuery(botQuery(slug));
  if (error instanceof ApiError && error.status === 404) return <Gone bot={bot} />;
  return (
    <Page
      title={bot.identity.display_name}
      crumbs={[{ label: "Bots", to: "/bots" }]}
      state={<Glance bot={bot} />}
      actions={
        <>
          <Reconfigure bot={bot} />
          <BotMenu bot={bot} />
        </>
      }
    >
      <div className="flex h-full flex-col">
        <Tabs label={bot.identity.display_name}>
          {TABS.map(({ to, label, icon: Icon }) => (
            <Link key={to} to={to} params={{ slug, sessionId: undefined }} className={tabClass}>
              <Icon size={14} strokeWidth={1.75} aria-hidden className="max-sm:hidden" /> {label}
            </Link>
          ))}
        </Tabs>
        {bot.blocked && <BlockedBar bot={bot} reason={bot.blocked} />}
        <div className="min-h-0 flex-1 overflow-auto">
          <Outlet />
        </div>
      </div>
    </Page>
  );
}

/** Shown if the bot was deleted while the page was open. */
function Gone({ bot }: { bot: Bot }) {
  return (
    <Page title={bot.identity.display_name} crumbs={[{ label: "Bots", to: "/bots" }]}>
      <EmptyState
        title={`${bot.identity.display_name} was deleted`}
        sentence="It was deleted while this page was open. It can be restored for 30 days."
        action={
          <Link to="/bots" search={{ show: "deleted" }} className={buttonClass("primary")}>
            Deleted bots
          </Link>
        }
      />
    </Page>
  );
}

function Glance({ bot }: { bot: Bot }) {
  const { word, tone } = stateOf(bot);
  return (
    <span className="flex min-w-0 items-center gap-2.5 max-md:shrink-0">
      <Avatar of={bot.identity} size="sm" />
      <Badge tone={tone}>{word}</Badge>
      <span title="Model for the next answer" className="mono min-w-0 truncate text-dim max-md:hidden">
        {bot.model}
      </span>
      <span title="Spent so far" className="mono text-dim max-sm:hidden">
        {formatMicros(bot.spent_micros)}
      </span>
    </span>
  );
}
