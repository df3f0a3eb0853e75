import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Plus, Trash2 } from "lucide-react";
import { type FormEvent, useRef, useState } from "react";
import { memoriesQuery, recallWayQuery } from "@/api/memories";
import type { MemoryCategory } from "@/api/types";
import { Button } from "@/ui/Button";
import { Confirm } from "@/ui/Confirm";
import { EmptyState } from "@/ui/EmptyState";
import { ErrorState } from "@/ui/ErrorState";
import { InlineText } from "@/ui/InlineText";
import { Kbd } from "@/ui/Kbd";
import { LoadMore } from "@/ui/LoadMore";
import { Panel } from "@/ui/Panel";
import { SearchField } from "@/ui/SearchField";
import { Select } from "@/ui/Select";
import { SkeletonRows } from "@/ui/Skeleton";
import { useShortcut } from "@/ui/shortcuts";
import { useFocusBack } from "@/ui/useFocusBack";
import { MemoryForm, NEW } from "./MemoryForm";
import { MemoryRow } from "./MemoryRow";
import { Recalled } from "./Recalled";
import { useMemories } from "./useMemories";
import { CATEGORIES } from "./words";

const route = getRouteApi("/shell/bots/$slug/memory");
const ANY = [{ value: "", label: "Any category" }, ...CATEGORIES];

/** The memories of a bot, and a test of what it would recall. */
export function MemoryTab() {
  const { slug } = route.useParams();
  const [q, setQ] = useState("");
  const [category, setCategory] = useState<MemoryCategory | null>(null);
  const [isAdding, setAdding] = useState(false);
  const plus = useRef<HTMLButtonElement>(null);
  useFocusBack(isAdding, () => plus.current);
  const { add } = useMemories(slug);
  useShortcut("c", { label: "Add a memory", group: "Memory" }, () => setAdding(true));
  return (
    <div className="mx-auto max-w-[860px] space-y-3 p-4 max-sm:p-2">
      <Way />
      <div className="flex flex-wrap items-center gap-2">
        <RecallBox setQ={setQ} />
        <Select
          label="Category"
          value={category ?? ""}
          options={ANY}
          onChange={(value) => setCategory((value || null) as MemoryCategory | null)}
        />
        <Button ref={plus} look="primary" className="ml-auto" onClick={() => setAdding(true)}>
          <Plus size={13} aria-hidden /> Add <Kbd keys="c" />
        </Button>
      </div>
      {isAdding && (
        <Panel title="New memory">
          <MemoryForm
            start={NEW}
            action="Add"
            error={add.error}
            isBusy={add.isPending}
            cancel={() => setAdding(false)}
            onSubmit={(memory) => add.mutate({ slug, ...memory }, { onSuccess: () => setAdding(false) })}
          />
        </Panel>
      )}
      {q ? <Recalled slug={slug} q={q} /> : <All slug={slug} category={category} />}
    </div>
  );
}

/** How memories are searched on this server. */
function Way() {
  const way = useQuery(recallWayQuery).data;
  if (!way) return null;
  return (
    <p className="text-dim">
      {way.by === "meaning" ? "Memories are found by meaning" : "Memories are found by keyword"}
      {way.model && (
        <>
          , with <span className="mono">{way.model}</span>
        </>
      )}
      . {way.hint && <InlineText text={way.hint} />}
    </p>
  );
}

function RecallBox({ setQ }: { setQ: (q: string) => void }) {
  const [typed, setTyped] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setQ(typed.trim());
  };
  return (
    <search className="min-w-0 flex-1 basis-64">
      <form onSubmit={submit}>
        <SearchField
          label="Test recall"
          keyLabel="Search memories"
          group="Memory"
          placeholder="Ask a question to see what it would recall…"
          maxLength={2000}
          className=""
          value={typed}
          onChange={(words) => {
            setTyped(words);
            if (words === "") setQ("");
          }}
        />
      </form>
    </search>
  );
}

function All({ slug, category }: { slug: string; category: MemoryCategory | null }) {
  const query = useInfiniteQuery(memoriesQuery(slug, category));
  const memories = query.data?.pages.flatMap((page) => page.items) ?? [];
  if (query.isPending) return <SkeletonRows rows={5} label="Loading memories" />;
  if (query.isLoadingError) return <ErrorState error={query.error} retry={query.refetch} />;
  if (memories.length === 0) {
    return (
      <EmptyState
        title={category ? "No memories in this category" : "No memories yet"}
        sentence="Facts are extracted from conversations after a short idle time. You can also add them yourself."
        example="for example: “My releases are on Thursdays.”"
      />
    );
  }
  return (
    <Panel title="Memories" actions={<ForgetAll slug={slug} />}>
      <ul aria-label="Memories" className="divide-y divide-line">
        {memories.map((memory) => (
          <li key={memory.id}>
            <MemoryRow slug={slug} memory={memory} />
          </li>
        ))}
      </ul>
      <LoadMore of={query} />
    </Panel>
  );
}

function ForgetAll({ slug }: { slug: string }) {
  const [isAsking, setAsking] = useState(false);
  const { forgetAll } = useMemories(slug);
  return (
    <>
      <Button look="ghost" onClick={() => setAsking(true)}>
        <Trash2 size={13} aria-hidden /> Forget all…
      </Button>
      <Confirm
        open={isAsking}
        onOpenChange={setAsking}
        title="Forget all memories?"
        description="Permanently deletes all memories of this bot, including pinned ones. Conversations are kept."
        action="Forget all"
        word="forget all"
        isBusy={forgetAll.isPending}
        onConfirm={() => forgetAll.mutate(undefined, { onSettled: () => setAsking(false) })}
      />
    </>
  );
}
