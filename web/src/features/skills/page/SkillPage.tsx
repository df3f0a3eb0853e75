import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link, Outlet } from "@tanstack/react-router";
import { BookOpenText, FileCode, FlaskConical, History, Pencil, Play, ShieldCheck } from "lucide-react";
import { useState } from "react";
import { ApiError } from "@/api/client";
import { skillQuery } from "@/api/skills";
import type { SkillDetail } from "@/api/types";
import { Button, buttonClass } from "@/ui/Button";
import { EmptyState } from "@/ui/EmptyState";
import { Kbd } from "@/ui/Kbd";
import { Page } from "@/ui/Page";
import { useShortcut } from "@/ui/shortcuts";
import { Tabs, tabClass } from "@/ui/Tabs";
import { SkillTags, StateBadge } from "../Badges";
import { RunDrawer } from "../run/RunDrawer";
import { CRUMBS } from "../words";
import { AttentionBar } from "./AttentionBar";
import { SkillMenu } from "./SkillMenu";

const route = getRouteApi("/shell/skills/$name");

const TABS = [
  { to: "/skills/$name", label: "Overview", icon: BookOpenText },
  { to: "/skills/$name/source", label: "Source", icon: FileCode },
  { to: "/skills/$name/permissions", label: "Permissions", icon: ShieldCheck },
  { to: "/skills/$name/runs", label: "Runs", icon: History },
  { to: "/skills/$name/tests", label: "Tests", icon: FlaskConical },
] as const;

/** The frame of a skill's pages: header, tabs and status. */
export function SkillPage() {
  const { name } = route.useParams();
  const { data: skill, error } = useSuspenseQuery(skillQuery(name));
  const [isRunning, setRunning] = useState(false);
  useShortcut("r", { label: "Run skill", group: "Skill" }, () => setRunning(true));
  if (error instanceof ApiError && error.status === 404) return <Gone name={name} />;
  return (
    <Page
      title={name}
      crumbs={CRUMBS}
      state={<Glance skill={skill} />}
      actions={
        <>
          <Link
            to="/skills/$name/edit"
            params={{ name }}
            aria-label="Edit"
            className={buttonClass("plain", "max-sm:px-2")}
          >
            <Pencil size={13} aria-hidden /> <span className="max-sm:hidden">Edit</span>
          </Link>
          <Button look="primary" onClick={() => setRunning(true)}>
            <Play size={13} aria-hidden /> Run <Kbd keys="r" />
          </Button>
          <SkillMenu skill={skill} />
        </>
      }
    >
      <div className="flex h-full flex-col">
        <Tabs label={name}>
          {TABS.map(({ to, label, icon: Icon }) => (
            <Link
              key={to}
              to={to}
              params={{ name }}
              activeOptions={{ exact: to === "/skills/$name", includeSearch: false }}
              className={tabClass}
            >
              <Icon size={14} strokeWidth={1.75} aria-hidden className="max-sm:hidden" /> {label}
            </Link>
          ))}
        </Tabs>
        <AttentionBar skill={skill} />
        <div className="min-h-0 flex-1 overflow-auto">
          <Outlet />
        </div>
      </div>
      {isRunning && <RunDrawer skill={skill} close={() => setRunning(false)} />}
    </Page>
  );
}

function Glance({ skill }: { skill: SkillDetail }) {
  return (
    <span className="flex min-w-0 items-center gap-1.5">
      <span className="mono mr-1 text-faint max-sm:hidden">{skill.version}</span>
      <span className="flex max-sm:hidden">
        <StateBadge state={skill.state} />
      </span>
      <span className="flex min-w-0 items-center gap-1.5 overflow-hidden max-lg:hidden">
        <SkillTags skill={skill} />
      </span>
    </span>
  );
}

/** Shown if the skill was removed while the page was open. */
function Gone({ name }: { name: string }) {
  return (
    <Page title={name} crumbs={CRUMBS}>
      <EmptyState
        title={`${name} was removed`}
        sentence="It was removed while this page was open."
        action={
          <Link to="/skills" className={buttonClass("primary")}>
            All skills
          </Link>
        }
      />
    </Page>
  );
}
