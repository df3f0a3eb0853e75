import type { ChatSessionDetail } from "@/api/types";
import { Markdown } from "@/ui/Markdown";

/** Marks the message up to which the conversation is summarized for the model. */
export function SummaryMark({ summary }: { summary: NonNullable<ChatSessionDetail["summary"]> }) {
  return (
    <details className="text-xs text-dim">
      <summary className="flex cursor-pointer items-center gap-3 rounded-sm before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line hover:text-ink">
        Earlier messages are sent as a summary
      </summary>
      <div className="mt-2 rounded-md border border-line bg-surface px-3 py-2 text-sm">
        <Markdown text={summary.text} />
      </div>
    </details>
  );
}
