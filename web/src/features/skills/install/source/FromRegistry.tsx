import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { registriesQuery, registrySearchQuery } from "@/api/registries";
import type { RegistryEntry } from "@/api/types";
import { Button, buttonClass } from "@/ui/Button";
import { count } from "@/ui/count";
import { EmptyState } from "@/ui/EmptyState";
import { ErrorState } from "@/ui/ErrorState";
import { Field } from "@/ui/Field";
import { SkeletonRows } from "@/ui/Skeleton";
import { useQuiet } from "@/ui/useQuiet";
import { KINDS } from "../../words";
import { Actions } from "./Actions";
import type { WayProps } from "./Source";

const QUIET_MS = 250;
/** More results than this are not shown. */
const MAX_SHOWN = 100;

/** Install from a registry, searching the indexes cached on the server. */
export function FromRegistry({ form, change, get, close }: WayProps) {
  const registries = useQuery(registriesQuery);
  const words = useQuiet(form.words.trim(), QUIET_MS);
  const found = useQuery({
    ...registrySearchQuery(words),
    enabled: (registries.data?.length ?? 0) > 0,
    placeholderData: keepPreviousData,
  });
  if (registries.isPending) return <SkeletonRows rows={4} label="Loading registries" />;
  if (registries.isLoadingError) return <ErrorState error={registries.error} retry={registries.refetch} />;
  if (registries.data.length === 0) return <NoRegistry />;
  return (
    <div className="space-y-3">
      <Field
        label={`Search ${registries.data.map(({ name }) => name).join(", ")}`}
        type="search"
        autoComplete="off"
        placeholder="summarize, git, invoices…"
        value={form.words}
        onChange={(event) => change({ words: event.target.value })}
      />
      {found.isPending && <SkeletonRows rows={4} label="Searching" />}
      {found.isLoadingError && <ErrorState error={found.error} retry={found.refetch} />}
      {found.data && <Entries entries={found.data} words={words} get={get} />}
      <Actions get={get} close={close} />
    </div>
  );
}

function Entries({
  entries,
  words,
  get,
}: { entries: readonly RegistryEntry[]; words: string } & Pick<WayProps, "get">) {
  if (entries.length === 0) {
    return (
      <p className="py-4 text-center text-dim">
        {words ? `No skills match “${words}”.` : "The registries are empty."}
      </p>
    );
  }
  const shown = entries.slice(0, MAX_SHOWN);
  return (
    <>
      <p role="status" className="sr-only">
        {count(entries.length, "skill")} found
      </p>
      <ul
        aria-label="Found in the registries"
        className="max-h-[40vh] divide-y divide-line overflow-auto rounded-md border border-line"
      >
        {shown.map((entry) => (
          <li
            key={`${entry.registry}/${entry.name}/${entry.version}`}
            className="flex items-start gap-3 px-3 py-2"
          >
            <Entry entry={entry} get={get} />
          </li>
        ))}
      </ul>
      {entries.length > shown.length && (
        <p className="text-xs text-dim">
          First {shown.length} of {entries.length}. Refine the search to see fewer.
        </p>
      )}
    </>
  );
}

function Entry({ entry, get }: { entry: RegistryEntry } & Pick<WayProps, "get">) {
  const { registry, name, version, description, kind, capabilities, installed } = entry;
  const isSame = installed === version;
  return (
    <>
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-baseline gap-x-2">
          <span className="font-medium break-all">{name}</span>
          <span className="mono text-dim">{version}</span>
          <span className="text-xs text-faint">{KINDS[kind].word}</span>
          <span className="text-xs text-faint">{registry}</span>
        </p>
        <p className="break-words text-dim">{description}</p>
        {capabilities.length > 0 && (
          <p className="text-xs text-dim">
            requests <span className="mono">{capabilities.join(", ")}</span>
          </p>
        )}
      </div>
      <Button
        aria-label={`Review ${name} ${version}`}
        disabled={get.isPending}
        onClick={() => get.mutate({ source: { type: "registry", registry, name, version } })}
      >
        {isSame ? "Review again" : installed ? "Review update" : "Review"}
      </Button>
    </>
  );
}

function NoRegistry() {
  return (
    <EmptyState
      title="No registries"
      sentence="A registry is a list of skills at an address you trust. Add one to search it here."
      action={
        <Link to="/settings/registries" className={buttonClass()}>
          Add a registry
        </Link>
      }
    />
  );
}
