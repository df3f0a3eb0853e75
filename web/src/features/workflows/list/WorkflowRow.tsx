import { Link } from "@tanstack/react-router";
import { Play } from "lucide-react";
import type { WorkflowCard } from "@/api/types";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { Until } from "@/ui/Time";
import { Enabled } from "../Enabled";
import { TriggerWords } from "../TriggerWords";
import { nextOf, refOf } from "../words";
import { Strip } from "./Strip";

type Props = { workflow: WorkflowCard; run: () => void };

/** A workflow in the list: name, triggers, last runs and next run. */
export function WorkflowRow({ workflow, run }: Props) {
  const next = nextOf(workflow);
  return (
    <li className="grid grid-cols-[minmax(0,5fr)_minmax(0,4fr)_130px_96px_auto] items-center gap-x-4 gap-y-1 px-3 py-2 hover:bg-raised/40 max-lg:grid-cols-[minmax(0,1fr)_auto] max-lg:gap-x-3">
      <div className="min-w-0">
        <div className="flex min-w-0 items-center gap-2">
          <Link
            to="/workflows/$ref"
            params={{ ref: refOf(workflow) }}
            data-row
            className="truncate rounded-sm font-medium hover:underline"
          >
            {workflow.name}
          </Link>
          {workflow.open_gates > 0 && <Badge tone="wait">needs you</Badge>}
          {workflow.owner && (
            <Link
              to="/bots/$slug"
              params={{ slug: workflow.owner }}
              title="Owner"
              className="mono shrink-0 rounded-sm text-faint hover:text-ink"
            >
              {workflow.owner}
            </Link>
          )}
        </div>
        {workflow.description && <p className="truncate text-dim">{workflow.description}</p>}
      </div>
      <div className="min-w-0 text-dim max-lg:order-3 max-lg:col-span-2">
        <TriggerWords triggers={workflow.triggers} />
      </div>
      <div className="max-lg:order-4">
        <Strip runs={workflow.last_runs} />
      </div>
      <div className="mono text-dim max-lg:order-5 max-lg:text-right">
        {next ? <Until at={next} /> : <span className="text-faint max-lg:hidden">–</span>}
      </div>
      <div className="flex items-center justify-end gap-1 max-lg:order-2">
        <Enabled workflow={workflow} />
        <Button onClick={run} aria-label={`Run ${workflow.name}`}>
          <Play size={13} aria-hidden /> Run
        </Button>
      </div>
    </li>
  );
}
