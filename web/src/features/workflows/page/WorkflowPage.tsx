import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link, Outlet } from "@tanstack/react-router";
import { BookOpenText, GitCompareArrows, History, Pencil, Play } from "lucide-react";
import { useState } from "react";
import { ApiError } from "@/api/client";
import type { WorkflowDetail } from "@/api/types";
import { workflowQuery } from "@/api/workflows";
import { Badge } from "@/ui/Badge";
import { Button, buttonClass } from "@/ui/Button";
import { EmptyState } from "@/ui/EmptyState";
import { Kbd } from "@/ui/Kbd";
import { Page } from "@/ui/Page";
import { useShortcut } from "@/ui/shortcuts";
import { Tabs, tabClass } from "@/ui/Tabs";
import { Enabled } from "../Enabled";
import { StartSaved } from "../start/StartSaved";
import { CRUMBS } from "../words";
import { useEdit } from "./useEdit";
import { WorkflowMenu } from "./WorkflowMenu";

const route = getRouteApi("/shell/workflows/$ref");

const TABS = [
  { to: "/workflows/$ref", label: "Overview", icon: BookOpenText },
  { to: "/workflows/$ref/runs", label: "Runs", icon: History },
  { to: "/workflows/$ref/versions", label: "Versions", icon: GitCompareArrows },
] as const;

/** The frame of a workflow's pages: switch, actions and tabs. */
export function WorkflowPage() {
  const { ref } = route.useParams();
  const { data: workflow, error } = useSuspenseQuery(workflowQuery(ref));
  const [isStarting, setStarting] = useState(false);
  useShortcut("r", { label: "Run workflow", group: "Workflow" }, () => setStarting(true));
  useEdit(ref);
  if (error instanceof ApiError && error.status === 404) return <Gone name={workflow.name} />;
  return (
    <Page
      title={workflow.name}
      crumbs={CRUMBS}
      state={<Glance workflow={workflow} />}
      actions={
        <>
          <Enabled workflow={workflow} />
          <Link to="/workflows/$ref/edit" params={{ ref }} className={buttonClass("plain", "max-sm:px-2")}>
            <Pencil size={13} aria-hidden /> <span className="max-sm:sr-only">Edit</span> <Kbd keys="e" />
          </Link>
          <Button look="primary" onClick={() => setStarting(true)}>
            <Play size={13} aria-hidden /> Run <Kbd keys="r" />
          </Button>
          <WorkflowMenu workflow={workflow} />
        </>
      }
    >
      <div className="flex h-full flex-col">
        <Tabs label={workflow.name}>
          {TABS.map(({ to, label, icon: Icon }) => (
            <Link
              key={to}
              to={to}
              params={{ ref }}
              activeOptions={{ exact: to === "/workflows/$ref", includeSearch: false }}
              className={tabClass}
            >
              <Icon size={14} strokeWidth={1.75} aria-hidden className="max-sm:hidden" /> {label}
            </Link>
          ))}
        </Tabs>
        {workflow.open_gates > 0 && <Waiting workflow={workflow} />}
        <div className="min-h-0 flex-1 overflow-auto">
          <Outlet />
        </div>
      </div>
      {isStarting && <StartSaved reference={ref} close={() => setStarting(false)} />}
    </Page>
  );
}

function Glance({ workflow: { number, open_gates } }: { workflow: WorkflowDetail }) {
  return (
    <span className="flex min-w-0 items-center gap-2">
      <span className="mono text-faint max-sm:hidden" title={`Saved ${number} times`}>
        v{number}
      </span>
      {open_gates > 0 && (
        <span className="flex max-md:hidden">
          <Badge tone="wait">needs you</Badge>
        </span>
      )}
    </span>
  );
}

/** Links to the run whose question is open. */
function Waiting({ workflow: { last_runs, open_gates } }: { workflow: WorkflowDetail }) {
  const run = last_runs.findLast(({ status }) => status === "waiting");
  return (
    <div role="status" className="wash-wait flex items-center gap-3 border-b px-4 py-1.5 max-sm:px-3">
      <p className="min-w-0 flex-1">
        {open_gates === 1 ? "A run is waiting" : `${open_gates} questions are waiting`} for you.
      </p>
      {run && (
        <Link to="/workflows/runs/$runId" params={{ runId: run.id }} className={buttonClass()}>
          Answer
        </Link>
      )}
    </div>
  );
}

/** Shown if the workflow was deleted while the page was open. */
function Gone({ name }: { name: string }) {
  return (
    <Page title={name} crumbs={CRUMBS}>
      <EmptyState
        title={`${name} was deleted`}
        sentence="It was deleted while this page was open. Its runs can still be viewed."
        action={
          <Link to="/runs" search={{ kind: "workflow" }} className={buttonClass("primary")}>
            Workflow runs
          </Link>
        }
      />
    </Page>
  );
}
