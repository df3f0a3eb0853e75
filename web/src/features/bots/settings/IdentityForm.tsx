import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { modelsQuery } from "@/api/models";
import type { Bot } from "@/api/types";
import { AskBeforeLeaving } from "@/ui/AskBeforeLeaving";
import { Button } from "@/ui/Button";
import { CheckField } from "@/ui/CheckField";
import { Field } from "@/ui/Field";
import { Kbd } from "@/ui/Kbd";
import { Panel } from "@/ui/Panel";
import { Refusal } from "@/ui/Refusal";
import { useShortcut } from "@/ui/shortcuts";
import { AboutFields, type FormPart, LookFields, ModelField } from "../fields";
import { changeOf, type Form, formOf, mistakesOf } from "../form";
import { Conflict } from "../soul/Conflict";
import { useSavingIdentity } from "./useSavingIdentity";

/** Only touched fields are kept locally; the rest follows the file. */
export function IdentityForm({ bot }: { bot: Bot }) {
  const models = useQuery(modelsQuery).data;
  const [touched, setTouched] = useState<Partial<Form>>({});
  const before = formOf(bot.identity);
  const form = { ...before, ...touched };
  const mistakes = mistakesOf(form);
  const changed = changeOf(before, form, models);
  const isDirty = Object.keys(changed).length > 0;
  const saving = useSavingIdentity(bot.slug, isDirty, () => setTouched({}));
  const isReady = isDirty && Object.keys(mistakes).length === 0 && !saving.isPending;
  const save = () => isReady && saving.save(changed);
  useShortcut("mod+s", { label: "Save settings", group: "Bot" }, save);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save();
  };
  const part = {
    form,
    mistakes,
    change: (more: Partial<Form>) => setTouched((sofar) => ({ ...sofar, ...more })),
  };
  const { conflict } = saving;
  return (
    <Panel title="Identity">
      <form onSubmit={submit} className="space-y-4 p-3">
        <Field
          label="Name"
          required
          maxLength={200}
          autoComplete="off"
          error={mistakes.name}
          value={form.name}
          onChange={(event) => part.change({ name: event.target.value })}
        />
        <AboutFields {...part} />
        <ModelField {...part} />
        <AnswerFields {...part} />
        <LookFields {...part} />
        <CheckField
          label="Memory"
          hint="Remember facts from conversations."
          checked={form.memory}
          onChange={(memory) => part.change({ memory })}
        />
        <Refusal error={saving.error} />
        <div className="flex items-center justify-end gap-2">
          <span role="status" className="mr-auto text-xs text-dim">
            {isDirty && "Not saved."}
          </span>
          <Button look="ghost" disabled={!isDirty} onClick={() => setTouched({})}>
            Discard
          </Button>
          <Button look="primary" type="submit" disabled={!isReady}>
            Save <Kbd keys="mod+s" />
          </Button>
        </div>
      </form>
      {conflict && (
        <Conflict
          name="IDENTITY.md"
          conflict={conflict}
          isBusy={saving.isPending}
          ways={{
            takeTheirs: () => {
              saving.dismiss();
              setTouched({});
            },
            saveMine: () => saving.saveOver(changed, conflict.current.hash),
            keepEditing: saving.dismiss,
          }}
        />
      )}
      <AskBeforeLeaving when={isDirty} what="Unsaved changes" />
    </Panel>
  );
}

/** Temperature and maximum answer length. */
function AnswerFields({ form, mistakes, change }: FormPart) {
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <div className="flex items-end gap-3">
        <Field
          label="Temperature"
          mono
          type="number"
          min={0}
          max={2}
          step={0.1}
          className="w-24 shrink-0"
          error={mistakes.temperature}
          value={form.temperature}
          onChange={(event) => change({ temperature: event.target.value })}
        />
        <input
          type="range"
          aria-label="Temperature, from precise to creative"
          min={0}
          max={2}
          step={0.1}
          value={Number(form.temperature) || 0}
          onChange={(event) => change({ temperature: event.target.value })}
          className="mb-1.5 h-5 min-w-0 flex-1 accent-accent"
        />
      </div>
      <Field
        label="Maximum tokens per answer"
        mono
        type="number"
        min={1}
        max={200_000}
        error={mistakes.maxTokens}
        value={form.maxTokens}
        onChange={(event) => change({ maxTokens: event.target.value })}
      />
    </div>
  );
}
