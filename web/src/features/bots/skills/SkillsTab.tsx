import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Pencil, Plus } from "lucide-react";
import { useState } from "react";
import { botSkillsQuery } from "@/api/bots";
import { Button, buttonClass } from "@/ui/Button";
import { EmptyState } from "@/ui/EmptyState";
import { ErrorState } from "@/ui/ErrorState";
import { Kbd } from "@/ui/Kbd";
import { Panel } from "@/ui/Panel";
import { SkeletonRows } from "@/ui/Skeleton";
import { useShortcut } from "@/ui/shortcuts";
import { AttachSkill } from "./AttachSkill";
import { SkillRow } from "./SkillRow";

const route = getRouteApi("/shell/bots/$slug/skills");

/** The skills of a bot and their settings. */
export function SkillsTab() {
  const { slug } = route.useParams();
  const skills = useQuery(botSkillsQuery(slug));
  const [isAttaching, setAttaching] = useState(false);
  useShortcut("c", { label: "Attach a skill", group: "Skills" }, () => setAttaching(true));
  const attach = (
    <Button look="primary" onClick={() => setAttaching(true)}>
      <Plus size={13} aria-hidden /> Attach <Kbd keys="c" />
    </Button>
  );
  return (
    <div className="mx-auto max-w-[860px] space-y-3 p-4 max-sm:p-2">
      <div className="flex flex-wrap items-center gap-2">
        <p className="min-w-0 flex-1 basis-64 text-dim">
          The bot knows what each skill is for and uses one when a question calls for it.
        </p>
        <Link
          to="/bots/$slug/soul"
          params={{ slug }}
          search={{ file: "skills-file" }}
          className={buttonClass()}
        >
          <Pencil size={13} aria-hidden /> Edit skills.toml
        </Link>
        {attach}
      </div>
      {skills.isPending && <SkeletonRows rows={4} label="Loading skills" />}
      {skills.isLoadingError && <ErrorState error={skills.error} retry={skills.refetch} />}
      {skills.data?.length === 0 && (
        <EmptyState
          title="No skills"
          sentence="Attach a skill from the library to extend what this bot can do."
          example="for example summarize, included with Forge"
        />
      )}
      {skills.data && skills.data.length > 0 && (
        <Panel title="Skills" count={skills.data.length}>
          <ul aria-label="Skills" className="divide-y divide-line">
            {skills.data.map((skill) => (
              <SkillRow key={skill.name} slug={slug} skill={skill} />
            ))}
          </ul>
        </Panel>
      )}
      {isAttaching && (
        <AttachSkill
          slug={slug}
          attached={(skills.data ?? []).map(({ name }) => name)}
          close={() => setAttaching(false)}
        />
      )}
    </div>
  );
}
