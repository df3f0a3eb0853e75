import { clsx } from "clsx";
import { ChevronUp } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { Interview } from "@/api/types";
import { Segmented } from "@/ui/Segmented";
import type { Review } from "../review/useReview";
import { Files } from "./Files";
import { PreviewCard } from "./PreviewCard";

const VIEWS = [
  { value: "card", label: "Card" },
  { value: "files", label: "Files" },
] as const;

type Props = { session: Interview; review: Review; isBeside: boolean };

/** The result so far: a card, and the files once everything is known. */
export function Preview({ session, review, isBeside }: Props) {
  const isFiles = review.shown !== null;
  const content = (
    <>
      <div className="flex h-7 items-center gap-2">
        <h2 className="text-xs font-semibold text-dim">Preview</h2>
        <span className="ml-auto">
          {review.wanted ? (
            <Segmented
              label="Show"
              value={isFiles ? "files" : "card"}
              options={VIEWS}
              onChange={(view) => review.showFiles(view === "files")}
            />
          ) : (
            <span className="text-xs text-dim">Files appear when the interview is complete</span>
          )}
        </span>
      </div>
      {review.shown ? (
        <Files session={session} shown={review.shown} review={review} />
      ) : (
        <PreviewCard session={session} preview={session.preview} />
      )}
    </>
  );
  return isBeside ? (
    <aside
      aria-label="Preview"
      className={clsx(
        "shrink-0 space-y-2 overflow-y-auto border-l border-line p-3",
        isFiles ? "w-[min(50vw,760px)]" : "w-[340px]",
      )}
    >
      {content}
    </aside>
  ) : (
    <Below session={session} isFiles={isFiles} hideFiles={() => review.showFiles(false)}>
      {content}
    </Below>
  );
}

type BelowProps = { session: Interview; isFiles: boolean; hideFiles: () => void; children: ReactNode };

/** On narrow screens: an expandable bar below the question. */
function Below({ session, isFiles, hideFiles, children }: BelowProps) {
  const [isOpen, setOpen] = useState(false);
  const isShown = isOpen || isFiles;
  return (
    <aside aria-label="Preview" className="shrink-0 border-t border-line bg-bg">
      <button
        type="button"
        aria-expanded={isShown}
        onClick={() => {
          setOpen(!isShown);
          if (isShown) hideFiles();
        }}
        className="flex h-9 w-full items-center gap-2 px-3 text-left -outline-offset-2 hover:bg-raised pointer-coarse:h-11"
      >
        <span className="text-xs font-semibold text-dim">Preview</span>
        <span className="min-w-0 truncate">{session.preview.name}</span>
        <ChevronUp
          size={14}
          aria-hidden
          className={clsx("ml-auto shrink-0 transition-transform", isShown && "rotate-180")}
        />
      </button>
      {isShown && <div className="max-h-[55vh] space-y-2 overflow-y-auto p-3 pt-1">{children}</div>}
    </aside>
  );
}
