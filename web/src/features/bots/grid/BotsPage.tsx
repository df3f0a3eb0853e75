import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { Hammer, Plus, Upload } from "lucide-react";
import { type ReactNode, useDeferredValue, useState } from "react";
import { botsQuery } from "@/api/bots";
import { Button, buttonClass } from "@/ui/Button";
import { CardGrid } from "@/ui/CardGrid";
import { count } from "@/ui/count";
import { EmptyState } from "@/ui/EmptyState";
import { ErrorState } from "@/ui/ErrorState";
import { Kbd } from "@/ui/Kbd";
import { Page } from "@/ui/Page";
import { SkeletonRows } from "@/ui/Skeleton";
import { useShortcut } from "@/ui/shortcuts";
import { isNamed } from "../state";
import { BotCard } from "./BotCard";
import { Filters } from "./Filters";
import { useImport } from "./importing";
import { NewBot } from "./NewBot";
import { filterOf } from "./shelf";

const route = getRouteApi("/shell/bots");

/** All bots with their status and cost. */
export function BotsPage() {
  const { new: isNew, ...shelf } = route.useSearch();
  const bots = useQuery({ ...botsQuery(filterOf(shelf)), placeholderData: keepPreviousData });
  const navigate = useNavigate();
  const [words, setWords] = useState(shelf.q ?? "");
  const q = useDeferredValue(words.trim());
  const taking = useImport();
  const setCreating = (isOpen: boolean) =>
    void navigate({ to: "/bots", search: { ...shelf, ...(isOpen && { new: true }) }, replace: true });
  useShortcut("c", { label: "New bot", group: "Bots" }, () => setCreating(true));

  const isFirst = bots.data?.length === 0 && shelf.show === undefined && !bots.isPlaceholderData;
  const found = bots.data?.filter((bot) => isNamed(bot, q)) ?? [];
  const create = (
    <Button look="primary" onClick={() => setCreating(true)}>
      <Plus size={13} aria-hidden /> New bot <Kbd keys="c" />
    </Button>
  );
  const forge = (
    <Link to="/forge" aria-label="Create with Forge" className={buttonClass()}>
      <Hammer size={13} aria-hidden /> <span className="max-sm:hidden">Create with Forge</span>
    </Link>
  );
  return (
    <Page
      title="Bots"
      actions={
        <>
          {forge}
          <Button onClick={taking.choose} aria-label="Import a bot">
            <Upload size={13} aria-hidden /> <span className="max-sm:hidden">Import</span>
          </Button>
          {!isFirst && create}
        </>
      }
    >
      <div {...taking.target} className="relative min-h-full">
        {taking.input}
        <Filters shelf={shelf} words={words} setWords={setWords} />
        {bots.isPending && <SkeletonRows rows={6} label="Loading bots" />}
        {bots.isLoadingError && <ErrorState error={bots.error} retry={bots.refetch} />}
        {isFirst && <First action={create} />}
        {bots.data && !isFirst && found.length === 0 && <Nothing words={q} />}
        {found.length > 0 && (
          <CardGrid label="Bots" said={count(found.length, "bot")}>
            {found.map((bot) => (
              <li key={bot.id}>
                <BotCard bot={bot} />
              </li>
            ))}
          </CardGrid>
        )}
        {taking.isOver && <DropHere />}
      </div>
      {isNew && <NewBot close={() => setCreating(false)} />}
    </Page>
  );
}

function First({ action }: { action: ReactNode }) {
  return (
    <EmptyState
      title="No bots yet"
      sentence="A bot has a soul that you write, a model, and a memory that grows with your conversations."
      action={action}
      example={
        <>
          or from a terminal: <code className="mono">forge bots create "Release notes"</code>
        </>
      }
    />
  );
}

function Nothing({ words }: { words: string }) {
  return (
    <EmptyState
      title={words ? `No bots match “${words}”` : "No matches"}
      sentence={words ? "The search covers name, description and tags." : "No bots have this status."}
    />
  );
}

function DropHere() {
  return (
    <div className="pointer-events-none absolute inset-2 grid place-items-center rounded-lg border-2 border-dashed border-accent bg-bg/80">
      <p className="text-base font-semibold">Drop the file to import it</p>
    </div>
  );
}
