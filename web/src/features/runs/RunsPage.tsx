import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useDeferredValue, useRef, useState } from "react";
import { allRuns, runsQuery } from "@/api/runs";
import type { Run } from "@/api/types";
import { EmptyState } from "@/ui/EmptyState";
import { ErrorState } from "@/ui/ErrorState";
import { FilterBar } from "@/ui/FilterBar";
import { LoadMore } from "@/ui/LoadMore";
import { Page } from "@/ui/Page";
import { RunRow } from "@/ui/run/RunRow";
import { RUN_WORD } from "@/ui/run/RunStatus";
import { SearchField } from "@/ui/SearchField";
import { Select } from "@/ui/Select";
import { SkeletonRows } from "@/ui/Skeleton";
import { useRowKeys } from "@/ui/useRowKeys";
import { SelfTestButton } from "./SelfTestButton";
import { type RunsSearch, readSearch } from "./search";

const route = getRouteApi("/shell/runs");

const STATUSES = [
  { value: "", label: "Any status" },
  ...Object.entries(RUN_WORD).map(([value, label]) => ({ value, label })),
];

export function RunsPage() {
  const search = route.useSearch();
  const [typed, setTyped] = useState("");
  const words = useDeferredValue(typed.trim().toLowerCase());
  const query = useInfiniteQuery({
    ...runsQuery({
      ...(search.status && { statuses: [search.status] }),
      ...(search.kind && { kind: search.kind }),
    }),
    placeholderData: keepPreviousData,
  });
  const loaded = query.data ? allRuns(query.data) : [];
  const shown = loaded.filter((run) => `${run.title} ${run.kind} ${run.id}`.toLowerCase().includes(words));
  const isFiltered = Boolean(words || search.status || search.kind);

  return (
    <Page title="Runs" actions={(isFiltered || loaded.length > 0) && <SelfTestButton />}>
      <Filters search={search} typed={typed} onType={setTyped} kinds={kindsOf(loaded)} />
      {query.isPending && <SkeletonRows rows={8} label="Loading runs" />}
      {query.isLoadingError && <ErrorState error={query.error} retry={query.refetch} />}
      {query.data && <RunList runs={shown} isFiltered={isFiltered || query.isPlaceholderData} />}
      <LoadMore of={query} />
    </Page>
  );
}

type FiltersProps = {
  search: RunsSearch;
  typed: string;
  onType: (text: string) => void;
  kinds: readonly string[];
};

function Filters({ search, typed, onType, kinds }: FiltersProps) {
  const navigate = useNavigate();
  const choose = (changed: { status?: string; kind?: string }) =>
    navigate({ to: "/runs", search: readSearch({ ...search, ...changed }), replace: true });
  const known = search.kind && !kinds.includes(search.kind) ? [search.kind, ...kinds] : kinds;

  return (
    <FilterBar>
      <SearchField
        label="Filter loaded runs"
        keyLabel="Filter"
        group="Lists"
        placeholder="Filter…"
        value={typed}
        onChange={onType}
      />
      <Select
        label="Status"
        value={search.status ?? ""}
        options={STATUSES}
        onChange={(status) => choose({ status })}
      />
      <Select
        label="Kind"
        value={search.kind ?? ""}
        options={[{ value: "", label: "Any kind" }, ...known.map((kind) => ({ value: kind, label: kind }))]}
        onChange={(kind) => choose({ kind })}
      />
    </FilterBar>
  );
}

function RunList({ runs, isFiltered }: { runs: readonly Run[]; isFiltered: boolean }) {
  const list = useRef<HTMLUListElement>(null);
  useRowKeys(list);
  if (runs.length === 0) {
    return isFiltered ? (
      <EmptyState title="No runs match" sentence="Choose another status or kind, or shorten the filter." />
    ) : (
      <EmptyState
        title="No runs yet"
        sentence="A run is one execution with its steps, questions and log."
        action={<SelfTestButton look="primary" />}
      />
    );
  }
  return (
    <ul ref={list} aria-label="Runs" className="divide-y divide-line border-b border-line *:*:px-4">
      {runs.map((run) => (
        <RunRow key={run.id} run={run} />
      ))}
    </ul>
  );
}

const kindsOf = (runs: readonly Run[]): string[] => [...new Set(runs.map((run) => run.kind))].sort();
