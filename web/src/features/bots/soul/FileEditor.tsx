import { useRef } from "react";
import type { FileState } from "@/api/types";
import type { EditorHandle } from "@/ui/editor/Editor";
import { EditorPane } from "@/ui/editor/EditorPane";
import { Problems } from "@/ui/editor/Problems";
import { Conflict } from "./Conflict";
import { type Draft, edited, isOutdated } from "./draft";
import { HandEdit } from "./HandEdit";
import { Meanwhile } from "./Meanwhile";
import { languageOf, nameOf } from "./place";
import { SaveBar } from "./SaveBar";
import { useChecked } from "./useChecked";
import { useSaving } from "./useSaving";

type Props = {
  slug: string;
  state: FileState;
  startLine: number | undefined;
  draft: Draft | undefined;
  setDraft: (change: (before: Draft | undefined) => Draft | undefined) => void;
};

/** The editor of a bot's file. The typed text is only ever replaced by a decision of the person. */
export function FileEditor({ slug, state, startLine, draft, setDraft }: Props) {
  const { file } = state;
  const editor = useRef<EditorHandle>(null);
  const text = draft?.text ?? state.content ?? "";
  const problems = useChecked(slug, state, draft);
  const saving = useSaving({ slug, file, draft, setDraft });
  const { conflict } = saving;
  // A missing file cannot be edited; it has to be restored first.
  if (state.content === null && !draft) return <HandEdit slug={slug} state={state} isEdited={false} />;
  return (
    <>
      {!state.is_accepted && <HandEdit slug={slug} state={state} isEdited={draft !== undefined} />}
      {draft && isOutdated(draft, state) && (
        <Meanwhile slug={slug} state={state} draft={draft} saving={saving} />
      )}
      <EditorPane
        ref={editor}
        label={`Text of ${nameOf(file)}`}
        language={languageOf(file)}
        text={text}
        marks={problems}
        startLine={startLine}
        onChange={(changed) => setDraft((before) => edited(before, changed, state))}
      />
      <Problems
        problems={problems}
        goTo={({ line, column }) => editor.current?.goTo(line ?? null, column ?? null)}
      />
      <SaveBar draft={draft} saving={saving} />
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
