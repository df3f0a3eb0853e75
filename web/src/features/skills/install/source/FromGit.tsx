import { Button } from "@/ui/Button";
import { Field } from "@/ui/Field";
import { Actions } from "./Actions";
import { gitSource } from "./form";
import type { WayProps } from "./Source";

/** Install from a Git repository; the server clones it. */
export function FromGit({ form, change, get, close }: WayProps) {
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (!get.isPending) get.mutate({ source: gitSource(form) });
      }}
    >
      <Field
        label="Repository URL"
        mono
        required
        autoComplete="off"
        spellCheck={false}
        placeholder="https://example.com/team/skills.git"
        value={form.url}
        onChange={(event) => change({ url: event.target.value })}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          label="Branch, tag or commit"
          mono
          autoComplete="off"
          spellCheck={false}
          hint="Leave empty for the default branch."
          value={form.ref}
          onChange={(event) => change({ ref: event.target.value })}
        />
        <Field
          label="Folder in the repository"
          mono
          autoComplete="off"
          spellCheck={false}
          placeholder="skills/summarize"
          hint="Leave empty for all skills."
          value={form.inside}
          onChange={(event) => change({ inside: event.target.value })}
        />
      </div>
      <Actions get={get} close={close}>
        <Button look="primary" type="submit" disabled={!form.url.trim() || get.isPending}>
          {get.isPending ? "Fetching…" : "Fetch"}
        </Button>
      </Actions>
    </form>
  );
}
