import { useState } from "react";
import { Field } from "@/ui/Field";
import { FormActions } from "@/ui/FormActions";
import { Modal } from "@/ui/Modal";
import { wrongPath } from "./draft";

type Props = {
  taken: readonly string[];
  /** The file to rename; omit to add one. */
  from?: string;
  done: (path: string) => void;
  close: () => void;
};

export function PathForm({ taken, from, done, close }: Props) {
  const [path, setPath] = useState(from ?? "");
  const isSame = path.trim() === from;
  const mistake =
    path.trim() && !isSame
      ? wrongPath(
          path.trim(),
          taken.filter((other) => other !== from),
        )
      : null;
  const isReady = path.trim() !== "" && !isSame && mistake === null;
  return (
    <Modal open onOpenChange={close} title={from ? `Rename ${from}` : "Add a file"}>
      <form
        className="mt-4 space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isReady) return;
          done(path.trim());
          close();
        }}
      >
        <Field
          label="Path in the folder"
          mono
          required
          autoComplete="off"
          spellCheck={false}
          placeholder="references/style.md"
          hint="Use slashes for folders. Tests are tests/name.json."
          error={mistake}
          value={path}
          onChange={(event) => setPath(event.target.value)}
        />
        <FormActions close={close} isReady={isReady}>
          {from ? "Rename" : "Add"}
        </FormActions>
      </form>
    </Modal>
  );
}
