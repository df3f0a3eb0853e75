import { Link, useNavigate } from "@tanstack/react-router";
import { Library, Pin, PinOff, Settings2, Unplug } from "lucide-react";
import { useState } from "react";
import type { BotSkill } from "@/api/types";
import { Badge } from "@/ui/Badge";
import { count } from "@/ui/count";
import { Menu, type MenuItem } from "@/ui/Menu";
import type { Tone } from "@/ui/tone";
import { SetUpSkill } from "./SetUpSkill";
import { FREE } from "./setup";
import { useSkills } from "./useSkills";

/** One skill of a bot: its switch, version, capabilities and problem. */
export function SkillRow({ slug, skill }: { slug: string; skill: BotSkill }) {
  const { change, detach } = useSkills(slug);
  const [isSettingUp, setSettingUp] = useState(false);
  const items = useItems(slug, skill, () => setSettingUp(true));
  const { name, enabled, description, problem } = skill;
  return (
    <li className="flex items-start gap-3 px-3 py-2">
      <input
        type="checkbox"
        aria-label={`Use ${name}`}
        className="mt-1 size-3.5 shrink-0 accent-accent"
        checked={enabled}
        disabled={change.isPending || detach.isPending}
        onChange={({ target }) => change.mutate({ slug, name, enabled: target.checked })}
      />
      <div className="min-w-0 flex-1 space-y-0.5">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <Link
            to="/skills/$name"
            params={{ name }}
            className="mono rounded-sm font-semibold break-words hover:underline"
          >
            {name}
          </Link>
          <Facts skill={skill} />
          <State skill={skill} />
        </p>
        <p className="break-words text-dim">{description}</p>
        {skill.capabilities.length > 0 && <Asks skill={skill} />}
        {problem && <p className="break-words text-wait">{problem}</p>}
      </div>
      <Menu label={`Actions for ${name}`} groups={items} />
      {isSettingUp && <SetUpSkill slug={slug} skill={skill} close={() => setSettingUp(false)} />}
    </li>
  );
}

function useItems(slug: string, { name, pin, version }: BotSkill, setUp: () => void): MenuItem[][] {
  const navigate = useNavigate();
  const { change, detach } = useSkills(slug);
  const pinning: MenuItem[] = pin
    ? [{ label: "Allow any version", icon: PinOff, run: () => change.mutate({ slug, name, version: null }) }]
    : version
      ? [{ label: `Pin to ${version}`, icon: Pin, run: () => change.mutate({ slug, name, version }) }]
      : [];
  const open = () => void navigate({ to: "/skills/$name", params: { name } });
  return [
    [
      { label: "Set up", icon: Settings2, run: setUp },
      ...pinning,
      { label: "Open in library", icon: Library, run: open },
    ],
    [{ label: "Detach", icon: Unplug, isDanger: true, run: () => detach.mutate({ slug, name }) }],
  ];
}

const KINDS = { prompt: "prompt", script: "script", local: "program" } as const;

function Facts({ skill: { kind, version, pin, tier, overrides } }: { skill: BotSkill }) {
  const settings = Object.keys(overrides).filter((key) => key !== "origin").length;
  const said = [
    kind && KINDS[kind],
    version && (pin ? `${version}, pinned to ${pin}` : version),
    !version && pin && `pinned to ${pin}`,
    tier,
    settings > 0 && count(settings, "setting"),
  ].filter(Boolean);
  return <span className="text-xs text-dim">{said.join(" · ")}</span>;
}

/** Requested capabilities; those not available here are struck through. */
function Asks({ skill: { capabilities, granted, narrowed } }: { skill: BotSkill }) {
  return (
    <ul aria-label="Capabilities" className="flex flex-wrap gap-x-2 text-xs text-dim">
      {capabilities.map((one) => {
        const isAllowed = one === FREE || (granted.includes(one) && (narrowed?.includes(one) ?? true));
        const why = granted.includes(one) ? "disabled for this bot" : "not granted";
        return (
          <li
            key={one}
            className="mono"
            title={one === FREE ? "needs no grant" : isAllowed ? "granted" : why}
          >
            {isAllowed ? one : <s className="text-faint">{one}</s>}
            {!isAllowed && <span className="sr-only">, {why}</span>}
          </li>
        );
      })}
    </ul>
  );
}

function State({ skill: { enabled, is_offered: isOffered, state } }: { skill: BotSkill }) {
  const [tone, word]: [Tone, string] = !enabled
    ? ["idle", "off"]
    : !isOffered
      ? ["bad", "not used"]
      : state === "review"
        ? ["wait", "needs review"]
        : ["ok", "in use"];
  return (
    <span className="ml-auto flex">
      <Badge tone={tone}>{word}</Badge>
    </span>
  );
}
