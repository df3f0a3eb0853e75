import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { Button, buttonClass } from "@/ui/Button";
import { Conflict } from "./Conflict";
import { begun, type Draft, isDirty } from "./draft";
import { SkillEditor } from "./SkillEditor";
import type { Folder } from "./useFolder";
import { useSaving } from "./useSaving";

const baseOf = ({ skill, texts }: Folder) => ({ texts, hash: skill.folder_hash });

/** The editor of a folder that others may change too. Typed text is only ever replaced by a decision of the person. */
export function OpenedSkill({ folder }: { folder: Folder }) {
  const { skill } = folder;
  const [draft, setDraft] = useState<Draft>(() => begun(baseOf(folder)));
  const isOther = draft.base.hash !== skill.folder_hash;
  const dirty = isDirty(draft);
  // Without edits the page follows the folder.
  if (isOther && !dirty) setDraft(begun(baseOf(folder)));
  const saving = useSaving({ skill, draft, setDraft });
  const [isComparing, setComparing] = useState(false);
  const isOutdated = isOther && dirty && !saving.isPending;
  return (
    <>
      <SkillEditor
        name={skill.name}
        draft={draft}
        setDraft={setDraft}
        saving={saving}
        others={folder.others}
        notice={
          <>
            {isOutdated && <Meanwhile name={skill.name} compare={() => setComparing(true)} />}
            {saving.left && !dirty && <Left name={skill.name} words={saving.left} />}
          </>
        }
      />
      {(isComparing || saving.isRefused) && isOutdated && (
        <Conflict
          name={skill.name}
          mine={draft}
          theirs={folder.texts}
          isBusy={saving.isPending}
          ways={{
            takeTheirs: () => {
              setDraft(begun(baseOf(folder)));
              setComparing(false);
              saving.settle();
            },
            saveMine: () => saving.saveOver(skill.folder_hash),
            keepEditing: () => {
              setComparing(false);
              saving.settle();
            },
          }}
        />
      )}
    </>
  );
}

function Meanwhile({ name, compare }: { name: string; compare: () => void }) {
  return (
    <div role="status" className="wash-wait flex flex-wrap items-center gap-2 rounded-md border px-3 py-1.5">
      <p className="min-w-0 flex-1 basis-52">
        {name} was changed while you were editing. Your changes are still here but not saved.
      </p>
      <Button onClick={compare}>Choose</Button>
    </div>
  );
}

/** What is left to do after a save. */
function Left({ name, words }: { name: string; words: string }) {
  return (
    <div role="status" className="wash-wait flex flex-wrap items-center gap-2 rounded-md border px-3 py-1.5">
      <p className="min-w-0 flex-1 basis-52">{words}</p>
      <Link to="/skills/$name/permissions" params={{ name }} className={buttonClass()}>
        Review
      </Link>
    </div>
  );
}
