import { useQuery } from "@tanstack/react-query";
import { Bot, Wrench } from "lucide-react";
import type { ReactNode } from "react";
import { botQuery } from "@/api/bots";
import type { Interview, InterviewPreview } from "@/api/types";
import { Avatar } from "@/ui/Avatar";
import { Badge } from "@/ui/Badge";

type Props = { session: Interview; preview: InterviewPreview };

/** What is known so far: name, personality, model, skills. */
export function PreviewCard({ session, preview }: Props) {
  const isSkill = session.mode === "skill";
  const { variants, capabilities, trigger } = preview.fields;
  return (
    <div className="space-y-3 rounded-lg border border-line bg-surface p-3">
      <div className="flex items-start gap-3">
        <Face session={session} />
        <div className="min-w-0 flex-1">
          <p className={`font-semibold break-words ${isSkill ? "mono" : ""}`}>
            {preview.name ?? <span className="font-normal text-faint">No name yet</span>}
          </p>
          <p className="break-words text-dim">{preview.description ?? "A description will appear here."}</p>
        </div>
      </div>
      <Part name={isSkill ? "How it works" : "Personality"}>{preview.personality_summary ?? <Later />}</Part>
      {isSkill && trigger && <Part name="Used when">{trigger}</Part>}
      {!isSkill && (
        <Part name="Model">
          {preview.model ? <span className="mono break-words">{preview.model}</span> : <Later />}
        </Part>
      )}
      {!isSkill && (
        <Part name="Skills">
          {preview.skills.length > 0 ? <Names of={preview.skills} /> : <Later word="none yet" />}
        </Part>
      )}
      {isSkill && capabilities && capabilities.length > 0 && (
        <Part name="Permissions">
          <Names of={capabilities} />
        </Part>
      )}
      {variants && variants.length > 0 && (
        <Part name="Bots">
          <Names of={variants.map(({ name }) => name)} />
        </Part>
      )}
      {preview.missing.length > 0 && (
        <Part name="Missing">
          <span className="text-wait">{preview.missing.join(", ")}</span>
        </Part>
      )}
      {preview.missing.length === 0 && <Badge tone="ok">complete</Badge>}
    </div>
  );
}

/** The bot's own avatar once it has one. */
function Face({ session: { mode, bot_slug, preview } }: { session: Interview }) {
  const bot = useQuery({ ...botQuery(bot_slug ?? ""), enabled: bot_slug !== null }).data;
  if (bot) return <Avatar of={bot.identity} />;
  const { avatar, colour } = preview;
  if (avatar && colour) return <Avatar of={{ avatar, colour }} />;
  const Icon = mode === "skill" ? Wrench : Bot;
  return (
    <span
      aria-hidden
      className="grid size-9 shrink-0 place-items-center rounded-lg border border-line bg-raised text-dim"
    >
      <Icon size={18} strokeWidth={1.75} />
    </span>
  );
}

const Part = ({ name, children }: { name: string; children: ReactNode }) => (
  <div>
    <p className="text-xs font-medium text-dim">{name}</p>
    <div className="min-w-0 break-words">{children}</div>
  </div>
);

const Later = ({ word = "not set yet" }: { word?: string }) => <span className="text-faint">{word}</span>;

const Names = ({ of: names }: { of: readonly string[] }) => (
  <ul className="mt-0.5 flex flex-wrap gap-1">
    {names.map((name) => (
      <li key={name} className="rounded-full border border-line bg-raised px-2 text-xs leading-5 break-words">
        {name}
      </li>
    ))}
  </ul>
);
