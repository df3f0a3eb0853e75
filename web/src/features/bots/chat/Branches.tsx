import { ChevronLeft, ChevronRight } from "lucide-react";
import type { ChatMessage } from "@/api/types";
import { IconButton } from "@/ui/Button";

/** `‹ 2/3 ›`: switches between the sibling messages of a branch point. */
export function Branches({
  message: { id, siblings, role },
  show,
}: {
  message: ChatMessage;
  show: (messageId: string) => void;
}) {
  const at = siblings.indexOf(id);
  const [before, after] = [siblings[at - 1], siblings[at + 1]];
  const what = role === "user" ? "question" : "answer";
  if (siblings.length < 2) return null;
  return (
    <span className="-ml-1.5 flex items-center text-dim">
      <IconButton
        label={`Previous ${what}`}
        disabled={before === undefined}
        onClick={() => before !== undefined && show(before)}
        className="size-6"
      >
        <ChevronLeft size={14} aria-hidden />
      </IconButton>
      <span className="mono">
        {at + 1}/{siblings.length}
      </span>
      <IconButton
        label={`Next ${what}`}
        disabled={after === undefined}
        onClick={() => after !== undefined && show(after)}
        className="size-6"
      >
        <ChevronRight size={14} aria-hidden />
      </IconButton>
    </span>
  );
}
