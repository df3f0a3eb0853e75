import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Pencil } from "lucide-react";
import { botSkillsQuery } from "@/api/bots";
import type { BotSkill } from "@/api/types";
import { Badge } from "@/ui/Badge";
import { buttonClass } from "@/ui/Button";
import { EmptyState } from "@/ui/EmptyState";
import { ErrorState } from "@/ui/ErrorState";
import { Panel } from "@/ui/Panel";
import { SkeletonRows } from "@/ui/Skeleton";
import type { Tone } from "@/ui/tone";

const route = getRouteApi("/shell/bots/$slug/skills");

/** What a bot can do besides talking: the skills its file names, and whether they reach the conversation. */
export function SkillsTab() {
  const { slug } = route.useParams();
  const skills = useQuery(botSkillsQuery(slug));
  const edit = (
    <Link to="/bots/$slug/soul" params={{ slug }} search={{ file: "skills-file" }} className={buttonClass()}>
      <Pencil size={13} aria-hidden /> Edit skills.toml
    </Link>
  );
  return (
    <div className="mx-auto max-w-[860px] space-y-3 p-4 max-sm:p-2">
      <p className="text-dim">
        A skill is a folder <code className="mono">skills/&lt;name&gt;/SKILL.md</code> in the data directory
        of the server; <code className="mono">skills.toml</code> says which of them this bot has.
      </p>
      {skills.isPending && <SkeletonRows rows={4} label="Loading the skills" />}
      {skills.isLoadingError && <ErrorState error={skills.error} retry={skills.refetch} />}
      {skills.data?.length === 0 && (
        <EmptyState
          title="No skills"
          sentence="This bot talks, and nothing else. Name a skill in its file to give it one."
          action={edit}
          example={
            <>
              for example: <code className="mono">[skills.release-notes]</code>
            </>
          }
        />
      )}
      {skills.data && skills.data.length > 0 && (
        <Panel title="Skills" count={skills.data.length} actions={edit}>
          <ul aria-label="Skills" className="divide-y divide-line">
            {skills.data.map((skill) => (
              <li key={skill.name} className="flex items-start gap-3 px-3 py-2">
                <div className="min-w-0 flex-1">
                  <p className="mono font-semibold break-words">{skill.name}</p>
                  <p className="break-words text-dim">{skill.description}</p>
                  {skill.problem && <p className="break-words text-wait">{skill.problem}</p>}
                </div>
                <State skill={skill} />
              </li>
            ))}
          </ul>
        </Panel>
      )}
    </div>
  );
}

function State({ skill: { enabled, problem } }: { skill: BotSkill }) {
  const [tone, word]: [Tone, string] = !enabled
    ? ["idle", "off"]
    : problem
      ? ["wait", "not used"]
      : ["ok", "in use"];
  return <Badge tone={tone}>{word}</Badge>;
}
