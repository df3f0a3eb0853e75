import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Archive, ArchiveRestore, Download, Power, PowerOff, Trash2 } from "lucide-react";
import { useState } from "react";
import { botQuery } from "@/api/bots";
import type { Bot } from "@/api/types";
import { Button } from "@/ui/Button";
import { CopyButton } from "@/ui/CopyButton";
import { Fact, Facts } from "@/ui/KeyValues";
import { formatMicros, formatTokens } from "@/ui/money";
import { Panel } from "@/ui/Panel";
import { Ago } from "@/ui/Time";
import { DeleteBot } from "../page/DeleteBot";
import { useBotActions } from "../page/useBotActions";
import { IdentityForm } from "./IdentityForm";

const route = getRouteApi("/shell/bots/$slug/settings");

/** Identity, location and cost of a bot, and its deletion. */
export function SettingsTab() {
  const { slug } = route.useParams();
  const bot = useSuspenseQuery(botQuery(slug)).data;
  return (
    <div className="mx-auto grid max-w-[1100px] items-start gap-3 p-4 max-sm:p-2 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
      <IdentityForm bot={bot} />
      <div className="space-y-3">
        <AboutPanel bot={bot} />
        <DangerPanel bot={bot} />
      </div>
    </div>
  );
}

function AboutPanel({ bot }: { bot: Bot }) {
  const { exportFile } = useBotActions(bot);
  return (
    <Panel
      title="About"
      actions={
        <Button look="ghost" onClick={exportFile}>
          <Download size={13} aria-hidden /> Export
        </Button>
      }
    >
      <div className="p-3">
        <Facts>
          <Fact name="Folder">
            <span className="flex items-start gap-1">
              <span className="mono min-w-0 break-all">{bot.folder}</span>
              <CopyButton text={bot.folder} label="Copy path" iconOnly />
            </span>
          </Fact>
          <Fact name="Slug">
            <span className="mono">{bot.slug}</span>
          </Fact>
          <Fact name="Model">
            <span className="mono break-all">{bot.model}</span>
          </Fact>
          <Fact name="Soul">
            <span className="mono">version {bot.soul_version}</span>
          </Fact>
          <Fact name="Conversations">
            <span className="mono">{bot.sessions}</span>
          </Fact>
          <Fact name="Messages">
            <span className="mono">{bot.messages}</span>
          </Fact>
          <Fact name="Tokens">
            <span className="mono">{formatTokens(bot.tokens)}</span>
          </Fact>
          <Fact name="Spent">
            <span className="mono">{formatMicros(bot.spent_micros)}</span>
          </Fact>
          <Fact name="Created">
            <Ago at={bot.created_at} />
          </Fact>
          <Fact name="Last active">{bot.last_active_at ? <Ago at={bot.last_active_at} /> : "never"}</Fact>
        </Facts>
      </div>
    </Panel>
  );
}

function DangerPanel({ bot }: { bot: Bot }) {
  const [isDeleting, setDeleting] = useState(false);
  const { setStatus } = useBotActions(bot);
  const isArchived = bot.status === "archived";
  const isDisabled = bot.status === "disabled";
  return (
    <Panel title="Archive and delete">
      <div className="flex flex-wrap gap-2 p-3">
        {!isArchived && (
          <Button onClick={() => setStatus(isDisabled ? "active" : "disabled")}>
            {isDisabled ? <Power size={13} aria-hidden /> : <PowerOff size={13} aria-hidden />}
            {isDisabled ? "Enable" : "Disable"}
          </Button>
        )}
        <Button onClick={() => setStatus(isArchived ? "active" : "archived")}>
          {isArchived ? <ArchiveRestore size={13} aria-hidden /> : <Archive size={13} aria-hidden />}
          {isArchived ? "Unarchive" : "Archive"}
        </Button>
        <Button look="danger" onClick={() => setDeleting(true)}>
          <Trash2 size={13} aria-hidden /> Delete…
        </Button>
      </div>
      <p className="px-3 pb-3 text-xs text-dim">
        A disabled bot keeps its data but does not answer; an archived one is also hidden. A deleted one can
        be restored for 30 days.
      </p>
      {isDeleting && <DeleteBot bot={bot} close={() => setDeleting(false)} />}
    </Panel>
  );
}
