import { Button } from "@/ui/Button";
import { Field } from "@/ui/Field";
import { Actions } from "./Actions";
import type { WayProps } from "./Source";

/** Install from a folder or archive on the server. */
export function FromPath({ form, change, get, close }: WayProps) {
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (!get.isPending) get.mutate({ source: { type: "path", path: form.path.trim() } });
      }}
    >
      <Field
        label="Folder or zip on the server"
        mono
        required
        autoComplete="off"
        spellCheck={false}
        placeholder="/srv/skills/summarize"
        hint="On the machine Forge runs on, inside a folder allowed by its settings."
        value={form.path}
        onChange={(event) => change({ path: event.target.value })}
      />
      <Actions get={get} close={close}>
        <Button look="primary" type="submit" disabled={!form.path.trim() || get.isPending}>
          {get.isPending ? "Reading…" : "Review"}
        </Button>
      </Actions>
    </form>
  );
}
