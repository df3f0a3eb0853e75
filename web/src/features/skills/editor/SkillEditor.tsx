import { FlaskConical, Save } from "lucide-react";
import { type ReactNode, useState } from "react";
import { AskBeforeLeaving } from "@/ui/AskBeforeLeaving";
import { Button } from "@/ui/Button";
import { Kbd } from "@/ui/Kbd";
import { Page } from "@/ui/Page";
import { Refusal } from "@/ui/Refusal";
import { useShortcut } from "@/ui/shortcuts";
import { useMedia } from "@/ui/useMedia";
import { CRUMBS } from "../words";
import { type Draft, isDirty, MAIN, removed, renamed, written } from "./draft";
import { FileList } from "./FileList";
import { TextPane } from "./TextPane";
import { TryPanel } from "./TryPanel";
import { useValidation } from "./useValidation";

type Props = {
  name: string;
  draft: Draft;
  setDraft: (change: (before: Draft) => Draft) => void;
  saving: { isPending: boolean; error: unknown; save: () => void };
  /** Binary files, which stay unchanged. */
  others?: readonly string[];
  /** A conflict, or what is left to do after a save. */
  notice?: ReactNode;
};

const NONE: readonly string[] = [];

/** The files of a skill, an editor for one of them, and a panel to try it. */
export function SkillEditor({ name, draft, setDraft, saving, others = NONE, notice }: Props) {
  const [opened, setOpened] = useState({ path: MAIN, line: undefined as number | undefined });
  const isWide = useMedia("(min-width: 1280px)");
  const [isTrying, setTrying] = useState(isWide);
  const validation = useValidation(name, draft.texts);
  const dirty = isDirty(draft);
  const save = () => {
    if (dirty && !saving.isPending) saving.save();
  };
  useShortcut("mod+s", { label: "Save skill", group: "Skill" }, save);
  const path = opened.path in draft.texts ? opened.path : MAIN;
  const open = (next: string, line?: number) => setOpened({ path: next, line });
  return (
    <Page
      {...(draft.base.hash === null
        ? { title: name }
        : { title: `Edit ${name}`, titleTo: `/skills/${name}` })}
      crumbs={CRUMBS}
      state={
        <span role="status" className="text-xs whitespace-nowrap text-dim">
          {dirty ? "not saved" : "saved"}
        </span>
      }
      actions={
        <>
          <Button aria-expanded={isTrying} onClick={() => setTrying(!isTrying)}>
            <FlaskConical size={13} aria-hidden /> Try it
          </Button>
          <Button look="primary" disabled={!dirty || saving.isPending} onClick={save}>
            <Save size={13} aria-hidden /> Save <Kbd keys="mod+s" />
          </Button>
        </>
      }
    >
      <div className="flex min-h-full flex-col gap-2 p-3 max-sm:p-2 lg:h-full">
        {notice}
        <Refusal error={saving.error} />
        <div className="flex min-h-0 flex-1 gap-3 max-lg:flex-col">
          <FileList
            draft={draft}
            others={others}
            opened={path}
            open={open}
            add={(added) => {
              setDraft((before) => written(before, added, ""));
              open(added);
            }}
            rename={(from, to) => {
              setDraft((before) => renamed(before, from, to));
              open(to);
            }}
            remove={(gone) => setDraft((before) => removed(before, gone))}
          />
          <TextPane
            key={path}
            path={path}
            text={draft.texts[path] ?? ""}
            startLine={opened.line}
            validation={validation}
            open={open}
            onChange={(text) => setDraft((before) => written(before, path, text))}
          />
          {isTrying && <TryPanel name={name} texts={draft.texts} kind={validation.kind} />}
        </div>
      </div>
      <AskBeforeLeaving when={dirty} what={`Unsaved changes in ${name}`} />
    </Page>
  );
}
