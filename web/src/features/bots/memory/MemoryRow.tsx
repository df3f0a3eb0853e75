import { Link } from "@tanstack/react-router";
import { Pencil, Pin, PinOff, Trash2 } from "lucide-react";
import { type ReactNode, useRef, useState } from "react";
import type { Memory } from "@/api/types";
import { IconButton } from "@/ui/Button";
import { count } from "@/ui/count";
import { Ago } from "@/ui/Time";
import { useFocusBack } from "@/ui/useFocusBack";
import { MemoryForm } from "./MemoryForm";
import { useMemories } from "./useMemories";

type Props = { slug: string; memory: Memory /** How it was matched in a search. */; found?: ReactNode };

/** One memory with its origin and how often it was recalled. */
export function MemoryRow({ slug, memory, found }: Props) {
  const [isEditing, setEditing] = useState(false);
  const pencil = useRef<HTMLButtonElement>(null);
  useFocusBack(isEditing, () => pencil.current);
  const { change, pin, forget } = useMemories(slug);
  if (isEditing) {
    return (
      <MemoryForm
        start={memory}
        action="Save"
        error={change.error}
        isBusy={change.isPending}
        cancel={() => setEditing(false)}
        onSubmit={({ fact, category, importance }) =>
          change.mutate(
            { slug, id: memory.id, fact, category, importance },
            { onSuccess: () => setEditing(false) },
          )
        }
      />
    );
  }
  const { id, is_pinned: isPinned } = memory;
  return (
    <div className="flex items-start gap-1 px-3 py-2 hover:bg-raised/40">
      <div className="min-w-0 flex-1">
        <p className="break-words whitespace-pre-line">{memory.fact}</p>
        <Facts slug={slug} memory={memory} found={found} />
      </div>
      <IconButton
        label={isPinned ? "Unpin" : "Pin"}
        aria-pressed={isPinned}
        className={isPinned ? "text-accent!" : ""}
        disabled={pin.isPending}
        onClick={() => pin.mutate({ slug, id, is_pinned: !isPinned })}
      >
        {isPinned ? <PinOff size={14} aria-hidden /> : <Pin size={14} aria-hidden />}
      </IconButton>
      <IconButton ref={pencil} label="Edit" onClick={() => setEditing(true)}>
        <Pencil size={14} aria-hidden />
      </IconButton>
      <IconButton label="Forget" disabled={forget.isPending} onClick={() => forget.mutate({ slug, id })}>
        <Trash2 size={14} aria-hidden />
      </IconButton>
    </div>
  );
}

function Facts({ slug, memory, found }: Props) {
  const { category, importance, is_pinned, session_id, author, recalled, created_at } = memory;
  return (
    <p className="flex flex-wrap gap-x-3 text-xs text-dim">
      {found}
      {is_pinned && <span className="font-medium text-ink">pinned</span>}
      <span>{category}</span>
      <span>importance {importance}</span>
      <span>{recalled === 0 ? "never recalled" : `recalled ${count(recalled, "time")}`}</span>
      {session_id ? (
        <Link
          to="/bots/$slug/chat/{-$sessionId}"
          params={{ slug, sessionId: session_id }}
          className="rounded-sm underline decoration-line underline-offset-2 hover:text-ink"
        >
          from a conversation
        </Link>
      ) : (
        <span>{author === "person" ? "added manually" : "from a deleted conversation"}</span>
      )}
      <Ago at={created_at} className="mono" />
    </p>
  );
}
