import { Save } from "lucide-react";
import { Button } from "@/ui/Button";
import { Kbd } from "@/ui/Kbd";
import { Refusal } from "@/ui/Refusal";
import { useShortcut } from "@/ui/shortcuts";
import type { Draft } from "./draft";
import type { Saving } from "./useSaving";

type Props = { draft: Draft | undefined; saving: Saving };

/** The save button with the status and a description of the change. */
export function SaveBar({ draft, saving }: Props) {
  useShortcut("mod+s", { label: "Save file", group: "Soul" }, saving.save);
  return (
    <>
      <Refusal error={saving.error} />
      <form
        className="flex flex-wrap items-center gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          saving.save();
        }}
      >
        <span role="status" className="text-xs text-dim max-sm:basis-full">
          {draft ? "Not saved." : "No unsaved changes."}
        </span>
        <input
          aria-label="Description of the change"
          placeholder="Short description of the change"
          maxLength={500}
          autoComplete="off"
          disabled={!draft}
          value={saving.message}
          onChange={(event) => saving.setMessage(event.target.value)}
          className="h-7 min-w-0 flex-1 rounded-md border border-line bg-bg px-2 placeholder:text-faint disabled:opacity-60 pointer-coarse:h-9 pointer-coarse:text-base"
        />
        <Button look="primary" type="submit" disabled={!draft || saving.isPending}>
          <Save size={13} aria-hidden /> Save <Kbd keys="mod+s" />
        </Button>
      </form>
    </>
  );
}
