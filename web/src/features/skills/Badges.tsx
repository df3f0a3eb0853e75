import { clsx } from "clsx";
import type { ReactNode } from "react";
import type { SkillCapability, SkillCard } from "@/api/types";
import { Badge } from "@/ui/Badge";
import { isFree } from "./grants/choice";
import { CAPABILITIES, KINDS, SOURCES, STATES, TIERS, whereFrom } from "./words";

const TAG =
  "inline-flex h-5 shrink-0 items-center gap-1 rounded-full border border-line px-2 text-xs whitespace-nowrap text-dim";

export function Tag({ title, children }: { title: string; children: ReactNode }) {
  return (
    <span title={title} className={TAG}>
      {children}
    </span>
  );
}

/** Kind, trust tier and source of a skill. */
export function SkillTags({ skill: { kind, tier, source } }: { skill: SkillCard }) {
  const { icon: Icon, word, meaning } = KINDS[kind];
  return (
    <>
      <Tag title={meaning}>
        <Icon size={11} aria-hidden /> {word}
      </Tag>
      <Tag title={`${TIERS[tier].meaning} ${TIERS[tier].takes}.`}>{TIERS[tier].word}</Tag>
      <Tag title={whereFrom(source)}>{SOURCES[source.type]}</Tag>
    </>
  );
}

export function StateBadge({ state }: { state: SkillCard["state"] }) {
  const { word, tone } = STATES[state];
  return <Badge tone={tone}>{word}</Badge>;
}

type CapabilityProps = {
  asked: SkillCapability[];
  granted: SkillCapability[] /** How many are shown; the rest is counted. */;
  most?: number;
};

/** The requested capabilities; those not granted have a dashed border. */
export function CapabilityTags({ asked, granted, most = asked.length }: CapabilityProps) {
  const rest = asked.slice(most);
  return (
    <ul aria-label="Capabilities" className="flex flex-wrap gap-1">
      {asked.slice(0, most).map((capability) => {
        const { icon: Icon, word } = CAPABILITIES[capability];
        const isGranted = isFree(capability) || granted.includes(capability);
        return (
          <li
            key={capability}
            title={`${capability}: ${isGranted ? "granted" : "requested, not granted"}`}
            className={clsx(
              "inline-flex h-5 items-center gap-1 rounded-sm border px-1.5 text-xs whitespace-nowrap",
              isGranted ? "border-line bg-raised text-ink" : "border-dashed border-strong text-dim",
            )}
          >
            <Icon size={11} aria-hidden /> {word}
            {!isGranted && <span className="sr-only">, not granted</span>}
          </li>
        );
      })}
      {rest.length > 0 && (
        <li
          title={rest.map((one) => CAPABILITIES[one].word).join(", ")}
          className="px-1 text-xs leading-5 text-dim"
        >
          and {rest.length} more
        </li>
      )}
    </ul>
  );
}
