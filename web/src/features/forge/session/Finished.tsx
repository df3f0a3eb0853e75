import { Link } from "@tanstack/react-router";
import { Bot, FileText, Hammer, MessageSquare, Wrench } from "lucide-react";
import type { Interview, Made } from "@/api/types";
import { Badge } from "@/ui/Badge";
import { Button, buttonClass } from "@/ui/Button";
import { Panel } from "@/ui/Panel";
import { Trial } from "../review/Trial";
import type { Review } from "../review/useReview";
import { madeWords } from "../review/words";

type Props = { session: Interview; made: Made | null; review: Review };

/** The result of the interview, with links to continue. */
export function Finished({ session, made, review }: Props) {
  if (!made) return null;
  return (
    <div className="mx-auto max-w-[720px] space-y-4 p-4 max-sm:p-3 sm:py-6">
      <h2 className="flex items-center gap-2 text-xl font-semibold">
        {madeWords(session, made)}
        <Badge tone="ok">done</Badge>
      </h2>
      {made.bots.length > 0 && <Bots bots={made.bots} />}
      {made.skill && <Skill skill={made.skill} />}
      {session.trial && <Trial report={session.trial} />}
      <div className="flex flex-wrap gap-2">
        <Link to="/forge" className={buttonClass("plain")}>
          <Hammer size={13} aria-hidden /> Create another
        </Link>
        <Button onClick={() => review.showFiles(true)}>
          <FileText size={13} aria-hidden /> Show files
        </Button>
      </div>
    </div>
  );
}

function Bots({ bots }: Pick<Made, "bots">) {
  return (
    <Panel title="Bots" count={bots.length}>
      <ul aria-label="Bots" className="divide-y divide-line">
        {bots.map((bot) => (
          <li key={bot.bot_id} className="flex items-center gap-3 px-3 py-2">
            <div className="min-w-0 flex-1">
              <p className="font-medium break-words">{bot.bot_name}</p>
              <p className="mono break-words text-dim">
                {bot.skills_attached.length > 0 ? bot.skills_attached.join(", ") : bot.bot_slug}
              </p>
            </div>
            <Link
              to="/bots/$slug/chat/{-$sessionId}"
              params={{ slug: bot.bot_slug, sessionId: undefined }}
              aria-label={`Chat with ${bot.bot_name}`}
              className={buttonClass("primary")}
            >
              <MessageSquare size={13} aria-hidden /> Chat
            </Link>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Skill({ skill }: { skill: NonNullable<Made["skill"]> }) {
  return (
    <Panel title="Skill">
      <div className="space-y-3 p-3">
        <div>
          <p className="mono flex items-center gap-2 font-semibold break-words">
            <Wrench size={14} aria-hidden /> {skill.name}
          </p>
          <p className="break-words text-dim">{skill.description}</p>
        </div>
        <p className="mono break-all text-xs text-dim">{skill.folder}</p>
        <div>
          <p className="mb-1 text-xs font-medium text-dim">Next steps</p>
          <ul className="list-disc space-y-1 pl-5 marker:text-faint">
            <li>
              Attach it to a bot: on the bot’s page, <em>Skills</em>.
            </li>
            <li>Describe a new bot: Forge suggests this skill when it is useful.</li>
          </ul>
        </div>
        <div className="flex flex-wrap gap-2">
          <Link to="/skills/$name" params={{ name: skill.name }} className={buttonClass("primary")}>
            <Wrench size={13} aria-hidden /> Open skill
          </Link>
          <Link to="/bots" className={buttonClass()}>
            <Bot size={13} aria-hidden /> Your bots
          </Link>
        </div>
      </div>
    </Panel>
  );
}
