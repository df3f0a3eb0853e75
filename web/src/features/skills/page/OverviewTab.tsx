import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Fragment, type ReactNode } from "react";
import { skillQuery } from "@/api/skills";
import type { SkillDetail, SkillProblem, SkillRelation } from "@/api/types";
import { Badge } from "@/ui/Badge";
import { InlineText } from "@/ui/InlineText";
import { Fact, Facts } from "@/ui/KeyValues";
import { Markdown } from "@/ui/Markdown";
import { Panel } from "@/ui/Panel";
import { CapabilityTags } from "../Badges";
import { grantable } from "../grants/choice";
import { notGranted } from "../grants/state";
import { About, Manifest } from "./About";

const route = getRouteApi("/shell/skills/$name/");

/** Description, capabilities, relations and users of a skill. */
export function OverviewTab() {
  const { name } = route.useParams();
  const { data: skill } = useSuspenseQuery(skillQuery(name));
  return (
    <div className="grid gap-3 p-4 max-sm:p-2 lg:grid-cols-[minmax(0,1fr)_340px]">
      <div className="min-w-0 space-y-3">
        <Panel title="Description">
          <p className="p-3 break-words">{skill.description || <Nothing>No description.</Nothing>}</p>
        </Panel>
        <Problems problems={skill.problems} />
        <Panel title={skill.kind === "prompt" ? "Instructions" : "Description for bots"}>
          <div className="p-3">
            {skill.body.trim() ? (
              <Markdown text={skill.body} />
            ) : (
              <Nothing>No instructions besides the description.</Nothing>
            )}
          </div>
        </Panel>
      </div>
      <div className="min-w-0 space-y-3">
        <About skill={skill} />
        <Capabilities skill={skill} />
        <Relations skill={skill} />
        <Bots bots={skill.bots} />
        <Manifest skill={skill} />
      </div>
    </div>
  );
}

const Nothing = ({ children }: { children: ReactNode }) => <span className="text-faint">{children}</span>;

function Problems({ problems }: { problems: readonly SkillProblem[] }) {
  if (problems.length === 0) return null;
  return (
    <Panel title="Problems" count={problems.length}>
      <ul className="divide-y divide-line">
        {problems.map(({ message, hint, line, is_warning }) => (
          <li key={`${line} ${message}`} className="flex items-start gap-3 px-3 py-2">
            <div className="min-w-0 flex-1 break-words">
              <p>
                <InlineText text={message} />
                {line != null && <span className="mono ml-2 text-faint">SKILL.md:{line}</span>}
              </p>
              {hint && (
                <p className="text-dim">
                  <InlineText text={hint} />
                </p>
              )}
            </div>
            <Badge tone={is_warning ? "wait" : "bad"}>{is_warning ? "warning" : "error"}</Badge>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Capabilities({ skill: { name, asks, granted } }: { skill: SkillDetail }) {
  const most = grantable(asks).length;
  const own = asks.filter(({ from_parent }) => !from_parent).map(({ capability }) => capability);
  const parents = [...new Set(asks.flatMap(({ from_parent }) => from_parent ?? []))];
  return (
    <Panel
      title="Capabilities"
      count={asks.length}
      actions={
        most > 0 && (
          <Link
            to="/skills/$name/permissions"
            params={{ name }}
            className="rounded-sm px-1 text-xs text-dim hover:text-ink"
          >
            {most - notGranted({ asks, granted })} of {most} granted
          </Link>
        )
      }
    >
      <div className="space-y-2 p-3">
        {asks.length === 0 && <Nothing>No capabilities requested.</Nothing>}
        {own.length > 0 && <CapabilityTags asked={own} granted={granted} />}
        {parents.map((parent) => (
          <Fragment key={parent}>
            <p className="text-xs text-dim">
              Inherited from <SkillLink name={parent} />
            </p>
            <CapabilityTags
              asked={asks.flatMap(({ capability, from_parent }) =>
                from_parent === parent ? capability : [],
              )}
              granted={granted}
            />
          </Fragment>
        ))}
      </div>
    </Panel>
  );
}

function SkillLink({ name }: { name: string }) {
  return (
    <Link
      to="/skills/$name"
      params={{ name }}
      className="mono rounded-sm underline decoration-strong underline-offset-2"
    >
      {name}
    </Link>
  );
}

function Relations({ skill }: { skill: SkillDetail }) {
  const groups = [
    { title: "Extends", of: skill.parents },
    { title: "Needs", of: skill.dependencies },
    { title: "Conflicts with", of: skill.conflicts },
  ];
  if (groups.every(({ of }) => of.length === 0)) return null;
  return (
    <Panel title="Other skills">
      <div className="p-3">
        <Facts>
          {groups.map(
            ({ title, of }) =>
              of.length > 0 && (
                <Fact key={title} name={title}>
                  <ul className="space-y-1">
                    {of.map((relation) => (
                      <Relation key={relation.name} of={relation} />
                    ))}
                  </ul>
                </Fact>
              ),
          )}
        </Facts>
      </div>
    </Panel>
  );
}

function Relation({ of: { name, range, version, problem } }: { of: SkillRelation }) {
  return (
    <li>
      {version == null ? <span className="mono">{name}</span> : <SkillLink name={name} />}
      {range !== "*" && <span className="mono ml-1.5 text-dim">{range}</span>}
      {version && <span className="mono ml-1.5 text-faint">has {version}</span>}
      {problem && <span className="block text-xs break-words text-bad">{problem}</span>}
    </li>
  );
}

function Bots({ bots }: { bots: readonly string[] }) {
  return (
    <Panel title="Used by bots" count={bots.length}>
      <div className="p-3">
        {bots.length === 0 ? (
          <Nothing>None yet. Attach skills on a bot's page.</Nothing>
        ) : (
          <ul className="flex flex-wrap gap-x-3 gap-y-1">
            {bots.map((slug) => (
              <li key={slug}>
                <Link
                  to="/bots/$slug/skills"
                  params={{ slug }}
                  className="mono rounded-sm underline decoration-strong underline-offset-2"
                >
                  {slug}
                </Link>
              </li>
            ))}
          </ul>
        )}
      </div>
    </Panel>
  );
}
