import { Link } from "@tanstack/react-router";
import { Brain } from "lucide-react";
import type { ChatMessage } from "@/api/types";
import { count } from "@/ui/count";

type Memories = NonNullable<ChatMessage["answer"]>["recalled"];

/** The memories used for this answer, collapsed. */
export function Recalled({ memories, slug }: { memories: Memories; slug: string }) {
  if (memories.length === 0) return null;
  return (
    <details className="text-dim">
      <summary className="flex w-fit cursor-pointer items-center gap-1.5 rounded-sm text-xs hover:text-ink">
        <Brain size={12} aria-hidden />
        {count(memories.length, "memory", "memories")}
      </summary>
      <ul className="mt-1 list-disc space-y-0.5 pl-5 marker:text-faint">
        {memories.map(({ id, fact }) => (
          <li key={id} className="break-words">
            {fact}
          </li>
        ))}
      </ul>
      <Link
        to="/bots/$slug/memory"
        params={{ slug }}
        className="mt-1 inline-block rounded-sm text-xs underline underline-offset-2"
      >
        All memories
      </Link>
    </details>
  );
}
