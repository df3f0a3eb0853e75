import { Link } from "@tanstack/react-router";
import type { SkillCard as Skill } from "@/api/types";
import { count } from "@/ui/count";
import { Ago } from "@/ui/Time";
import { CapabilityTags, SkillTags, StateBadge } from "../Badges";

const MAX_TAGS = 4;

/** A skill in the library, linked to its page. */
export function SkillCard({ skill }: { skill: Skill }) {
  return (
    <Link
      to="/skills/$name"
      params={{ name: skill.name }}
      data-row
      className="flex h-full flex-col gap-2 rounded-lg border border-line bg-surface p-3 -outline-offset-2 hover:border-strong hover:bg-raised/40"
    >
      <div className="flex items-center gap-2">
        <h2 className="mono min-w-0 truncate text-[13px] font-semibold" title={skill.name}>
          {skill.name}
        </h2>
        <span className="mono shrink-0 text-xs text-faint">{skill.version}</span>
        <span className="ml-auto shrink-0">
          {skill.state !== "ready" && <StateBadge state={skill.state} />}
        </span>
      </div>
      <p className="line-clamp-2 min-h-10 break-words text-dim">
        {skill.description || <span className="text-faint">No description.</span>}
      </p>
      {skill.problem && (
        <p
          className={`line-clamp-2 text-xs break-words ${skill.state === "broken" ? "text-bad" : "text-wait"}`}
        >
          {skill.problem}
        </p>
      )}
      {skill.capabilities.length > 0 && (
        <CapabilityTags asked={skill.capabilities} granted={skill.granted} most={MAX_TAGS} />
      )}
      <div className="mt-auto flex flex-wrap items-center gap-1 border-t border-line pt-2 text-xs text-dim">
        <SkillTags skill={skill} />
        <span className="ml-auto flex items-center gap-3">
          {skill.bots.length > 0 && (
            <span title={skill.bots.join(", ")}>{count(skill.bots.length, "bot")}</span>
          )}
          {skill.changed_at && <Ago at={skill.changed_at} className="text-faint" />}
        </span>
      </div>
    </Link>
  );
}
