import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { clsx } from "clsx";
import { RotateCw, Search, Sparkles } from "lucide-react";
import { type FormEvent, useEffect, useRef, useState } from "react";
import type { Workspace } from "@/api/types";
import { workspaceQuery } from "@/api/workspaces";
import { Button, IconButton } from "@/ui/Button";
import { CopyButton } from "@/ui/CopyButton";
import { EmptyState } from "@/ui/EmptyState";
import { Kbd } from "@/ui/Kbd";
import { Page } from "@/ui/Page";
import { useShortcut } from "@/ui/shortcuts";
import { FileTree } from "./FileTree";
import { FileView } from "./FileView";
import { RemoveWorkspace } from "./RemoveWorkspace";
import { SearchResults } from "./SearchResults";
import { StartAgent } from "./StartAgent";

const route = getRouteApi("/shell/workspaces/$workspaceId");

/** A workspace: its files, a search and a button to start an agent. */
export function WorkspacePage() {
  const { workspaceId } = route.useParams();
  const { file, line, q } = route.useSearch();
  const workspace = useSuspenseQuery(workspaceQuery(workspaceId)).data;
  const [isStarting, setStarting] = useState(false);
  useShortcut("c", { label: "Start an agent here", group: "Workspace" }, () => setStarting(true));

  return (
    <Page
      title={workspace.name}
      crumbs={[{ label: "Workspaces", to: "/workspaces" }]}
      state={<Whereabouts workspace={workspace} />}
      actions={
        <>
          <Button look="primary" onClick={() => setStarting(true)}>
            <Sparkles size={13} aria-hidden /> Start an agent here <Kbd keys="c" />
          </Button>
          <RemoveWorkspace workspace={workspace} />
        </>
      }
    >
      <div className="grid grid-cols-1 gap-3 p-3 max-sm:p-2 lg:h-full lg:grid-cols-[minmax(240px,1fr)_minmax(0,3fr)]">
        <section
          aria-label="Browse"
          className="flex min-h-0 flex-col rounded-lg border border-line bg-surface max-lg:max-h-[50dvh]"
        >
          <SearchBox workspaceId={workspaceId} q={q ?? ""} />
          {q ? (
            <SearchResults workspaceId={workspaceId} q={q} />
          ) : (
            <FileTree workspaceId={workspaceId} file={file} />
          )}
        </section>
        <section
          aria-label="File"
          className={clsx(
            "flex min-h-0 flex-col rounded-lg border border-line bg-surface",
            file && "max-lg:h-[70dvh]",
          )}
        >
          {file ? <FileView key={file} workspaceId={workspaceId} path={file} line={line} /> : <NoFile />}
        </section>
      </div>
      {isStarting && <StartAgent workspace={workspace} close={() => setStarting(false)} />}
    </Page>
  );
}

function Whereabouts({ workspace }: { workspace: Workspace }) {
  return (
    <span className="flex min-w-0 items-center gap-1 max-md:hidden">
      <span title={workspace.path} className="mono truncate text-faint">
        {workspace.path}
      </span>
      <CopyButton text={workspace.path} label="Copy path" iconOnly />
    </span>
  );
}

function SearchBox({ workspaceId, q }: { workspaceId: string; q: string }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const input = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(q);
  // The field follows the URL except while it is focused.
  useEffect(() => {
    if (document.activeElement !== input.current) setTyped(q);
  }, [q]);
  useShortcut("/", { label: "Search files", group: "Workspace" }, () => input.current?.focus());
  const search = (words: string) =>
    void navigate({
      to: "/workspaces/$workspaceId",
      params: { workspaceId },
      search: (before) => ({ ...before, q: words || undefined }),
    });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    search(typed.trim());
  };
  const refresh = () => void queries.invalidateQueries({ queryKey: workspaceQuery(workspaceId).queryKey });
  return (
    <search className="flex shrink-0 items-center gap-1 border-b border-line p-1.5">
      <form onSubmit={submit} className="relative min-w-0 flex-1">
        <Search size={13} aria-hidden className="absolute top-1/2 left-2 -translate-y-1/2 text-faint" />
        <input
          ref={input}
          type="search"
          aria-label="Search files"
          placeholder="Search files…"
          autoComplete="off"
          spellCheck={false}
          maxLength={1000}
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
            if (event.target.value === "") search("");
          }}
          onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
          className="h-7 w-full rounded-md border border-line bg-bg pr-7 pl-7 placeholder:text-faint hover:border-strong pointer-coarse:h-9 pointer-coarse:text-base"
        />
        {!typed && (
          <span aria-hidden className="absolute top-1 right-1.5 text-dim">
            <Kbd keys="/" />
          </span>
        )}
      </form>
      <IconButton label="Reload" onClick={refresh}>
        <RotateCw size={13} aria-hidden />
      </IconButton>
    </search>
  );
}

function NoFile() {
  return (
    <EmptyState
      title="No file selected"
      sentence="Select a file, or press Enter to search all files. Regular expressions work."
    />
  );
}
