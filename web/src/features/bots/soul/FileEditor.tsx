import { lazy, Suspense, useRef } from "react";
import type { FileState } from "@/api/types";
import type { EditorHandle } from "@/ui/editor/Editor";
import { Problems } from "@/ui/editor/Problems";
import { SkeletonRows } from "@/ui/Skeleton";
import { Conflict } from "./Conflict";
import { type Draft, edited, isOutdated } from "./draft";
import { HandEdit } from "./HandEdit";
import { Meanwhile } from "./Meanwhile";
import { nameOf } from "./place";
import { SaveBar } from "./SaveBar";
import { useChecked } from "./useChecked";
import { useSaving } from "./useSaving";

const Editor = lazy(() => import("@/ui/editor/Editor").then(({ Editor }) => ({ default: Editor })));

type Props = {
  slug: string;
  state: FileState;
  startLine: number | undefined;
  draft: Draft | undefined;
  setDraft: (change: (before: Draft | undefined) => Draft | undefined) => void;
};

/** A file of a bot, to write in. Nothing but the person's own decision ever replaces what they typed. */
export function FileEditor({ slug, state, startLine, draft, setDraft }: Props) {
  const { file } = state;
  const editor = useRef<EditorHandle>(null);
  const text = draft?.text ?? state.content ?? "";
  const problems = useChecked(slug, state, draft);
  const saving = useSaving({ slug, file, draft, setDraft });
  const { conflict } = saving;
  // Where there is no file there is nothing to write in: first it has to be written back.
  if (state.content === null && !draft) return <HandEdit slug={slug} state={state} isEdited={false} />;
  return (
    <>
      {!state.is_accepted && <HandEdit slug={slug} state={state} isEdited={draft !== undefined} />}
      {draft && isOutdated(draft, state) && (
        <Meanwhile slug={slug} state={state} draft={draft} saving={saving} />
      )}
      <div className="min-h-[320px] flex-1 overflow-hidden rounded-md border border-line focus-within:border-accent focus-within:ring-1 focus-within:ring-accent max-lg:h-[60dvh] max-lg:flex-none">
        <Suspense fallback={<SkeletonRows rows={8} label="Loading the editor" />}>
          <Editor
            ref={editor}
            label={`Text of ${nameOf(file)}`}
            language={file === "skills-file" ? "toml" : "markdown"}
            text={text}
            marks={problems.marks}
            startLine={startLine}
            onChange={(changed) => setDraft((before) => edited(before, changed, state))}
          />
        </Suspense>
      </div>
      <Problems
        problems={problems.found}
        goTo={({ line, column }) => editor.current?.goTo(line ?? null, column ?? null)}
      />
      <SaveBar file={file} draft={draft} saving={saving} />
      {conflict && (
        <Conflict
          name={nameOf(file)}
          conflict={conflict}
          isBusy={saving.isPending}
          ways={{
            takeTheirs: () => saving.takeTheirs(conflict.current),
            saveMine: () => saving.saveOver(conflict.current.hash),
            keepEditing: saving.keepEditing,
          }}
        />
      )}
    </>
  );
}
