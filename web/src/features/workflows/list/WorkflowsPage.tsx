import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useDeferredValue, useRef, useState } from "react";
import type { WorkflowCard } from "@/api/types";
import { workflowsQuery } from "@/api/workflows";
import { buttonClass } from "@/ui/Button";
import { count } from "@/ui/count";
import { EmptyState } from "@/ui/EmptyState";
import { ErrorState } from "@/ui/ErrorState";
import { AddressedSearch, FilterBar } from "@/ui/FilterBar";
import { Kbd } from "@/ui/Kbd";
import { Page } from "@/ui/Page";
import { Segmented } from "@/ui/Segmented";
import { SkeletonRows } from "@/ui/Skeleton";
import { useShortcut } from "@/ui/shortcuts";
import { useRowKeys } from "@/ui/useRowKeys";
import { StartSaved } from "../start/StartSaved";
import { refOf } from "../words";
import { readShelf, SHOWN, type Shelf, shownOf } from "./shelf";
import { Templates } from "./Templates";
import { WorkflowRow } from "./WorkflowRow";

const route = getRouteApi("/shell/workflows");

/** All workflows with their triggers, last runs and next run. */
export function WorkflowsPage() {
  const shelf = route.useSearch();
  const navigate = useNavigate();
  const workflows = useQuery(workflowsQuery);
  const [words, setWords] = useState(shelf.q ?? "");
  const q = useDeferredValue(words.trim());
  useShortcut(
    "c",
    { label: "New workflow", group: "Workflows" },
    () => void navigate({ to: "/workflows/new" }),
  );

  const isFirst = workflows.data?.length === 0;
  const found = shownOf(workflows.data ?? [], { ...shelf, q });
  const create = (
    <Link to="/workflows/new" className={buttonClass("primary")}>
      <Plus size={13} aria-hidden /> New workflow <Kbd keys="c" />
    </Link>
  );
  return (
    <Page title="Workflows" actions={!isFirst && create}>
      <Filters shelf={shelf} words={words} setWords={setWords} />
      {workflows.isPending && <SkeletonRows rows={6} label="Loading workflows" />}
      {workflows.isLoadingError && <ErrorState error={workflows.error} retry={workflows.refetch} />}
      {isFirst && (
        <>
          <EmptyState
            title="No workflows yet"
            sentence="A workflow chains bots, skills, code and requests, on a schedule, on an event, or when you press Run. After an interruption it resumes where it stopped."
            action={create}
            example={
              <>
                or from a terminal: <code className="mono">forge workflow create digest.yaml</code>
              </>
            }
          />
          <Templates />
        </>
      )}
      {workflows.data && !isFirst && found.length === 0 && (
        <EmptyState
          title={q ? `No workflows match “${q}”` : "No workflows match"}
          sentence="The search covers name, description, bot and triggers."
        />
      )}
      {found.length > 0 && <List workflows={found} />}
    </Page>
  );
}

type FilterProps = { shelf: Shelf; words: string; setWords: (words: string) => void };

const STATES = SHOWN.map((value) => ({
  value,
  label: value === "all" ? "All" : value === "on" ? "Enabled" : "Disabled",
}));

function Filters({ shelf, words, setWords }: FilterProps) {
  const navigate = useNavigate();
  const change = (changed: Record<string, unknown>) =>
    void navigate({ to: "/workflows", search: readShelf({ ...shelf, ...changed }), replace: true });
  return (
    <FilterBar>
      <AddressedSearch
        label="Search workflows"
        group="Workflows"
        q={shelf.q ?? ""}
        words={words}
        setWords={setWords}
        keep={(q) => change({ q })}
      />
      <Segmented
        label="Show"
        value={shelf.show ?? "all"}
        options={STATES}
        onChange={(show) => change({ show })}
      />
    </FilterBar>
  );
}

function List({ workflows }: { workflows: readonly WorkflowCard[] }) {
  const list = useRef<HTMLUListElement>(null);
  const [starting, setStarting] = useState<WorkflowCard | null>(null);
  useRowKeys(list);
  return (
    <>
      <p role="status" className="sr-only">
        {count(workflows.length, "workflow")}
      </p>
      <ul ref={list} aria-label="Workflows" className="divide-y divide-line border-b border-line px-1">
        {workflows.map((workflow) => (
          <WorkflowRow key={workflow.id} workflow={workflow} run={() => setStarting(workflow)} />
        ))}
      </ul>
      {starting && <StartSaved reference={refOf(starting)} close={() => setStarting(null)} />}
    </>
  );
}
