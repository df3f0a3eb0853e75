import { X } from "lucide-react";
import type { Interview } from "@/api/types";
import { Dot } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { Kbd } from "@/ui/Kbd";
import { useShortcut } from "@/ui/shortcuts";
import { doingOf } from "./words";

/** Progress of the model: the current activity, the text so far and a cancel button. */
export function Thinking({
  session,
  growing,
  cancel,
}: {
  session: Interview;
  growing: string;
  cancel: () => void;
}) {
  useShortcut("escape", { label: "Stop waiting", group: "Answers" }, cancel);
  return (
    <div className="space-y-2">
      <div className="flex items-center gap-2 text-dim">
        <Dot tone="run" />
        <span className="min-w-0 break-words">{doingOf(session)}…</span>
        <Button look="ghost" className="ml-auto" onClick={cancel}>
          <X size={13} aria-hidden /> Cancel <Kbd keys="esc" />
        </Button>
      </div>
      {growing && <p className="text-base break-words whitespace-pre-wrap">{growing}</p>}
    </div>
  );
}
