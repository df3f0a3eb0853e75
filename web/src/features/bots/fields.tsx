/** Fields shared by the "New bot" dialog and the bot's settings. */
import { useQuery } from "@tanstack/react-query";
import { clsx } from "clsx";
import { useId } from "react";
import { modelsQuery } from "@/api/models";
import { Avatar } from "@/ui/Avatar";
import { Field, TextArea } from "@/ui/Field";
import { SelectField } from "@/ui/SelectField";
import { CATEGORIES, defaultModel, type Form, type Mistakes } from "./form";

export type FormPart = { form: Form; mistakes: Mistakes; change: (changed: Partial<Form>) => void };

export function AboutFields({ form, mistakes, change }: FormPart) {
  return (
    <>
      <TextArea
        label="Description"
        rows={2}
        maxLength={1000}
        placeholder="Writes release notes from a list of commits."
        value={form.description}
        onChange={(event) => change({ description: event.target.value })}
      />
      <div className="grid gap-3 sm:grid-cols-2">
        <SelectField
          label="Category"
          value={form.category}
          options={CATEGORIES}
          onChange={(category) => change({ category })}
        />
        <Field
          label="Tags"
          placeholder="writing, releases"
          autoComplete="off"
          error={mistakes.tags}
          value={form.tags}
          onChange={(event) => change({ tags: event.target.value })}
        />
      </div>
    </>
  );
}

/** Accepts any model and suggests those with a known price. Empty uses the default. */
export function ModelField({ form, change }: FormPart) {
  const models = useQuery(modelsQuery).data;
  const known = useId();
  return (
    <>
      <Field
        label="Model"
        mono
        list={known}
        maxLength={240}
        placeholder={`default (${defaultModel(models)})`}
        autoComplete="off"
        spellCheck={false}
        hint="Leave empty to use the model for bots from Settings, Models."
        value={form.model}
        onChange={(event) => change({ model: event.target.value })}
      />
      <datalist id={known}>
        {models?.known.map((model) => (
          <option key={model} value={model} />
        ))}
      </datalist>
    </>
  );
}

const FACES = ["🤖", "🦉", "🦊", "🐙", "🌱", "🔥", "📚", "🔧", "🎨", "🧭"];
const COLORS = ["#e2703a", "#d6a419", "#3f9b5f", "#2f8f9d", "#4a74d8", "#8a5bd0", "#c8528f", "#7a7f87"];

export function LookFields({ form, change }: FormPart) {
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <div>
        <Field
          label="Avatar"
          maxLength={16}
          placeholder="🤖"
          autoComplete="off"
          value={form.avatar}
          onChange={(event) => change({ avatar: event.target.value })}
          action={<Avatar of={{ avatar: form.avatar || "🤖", colour: form.colour || "#e2703a" }} />}
        />
        <div className="mt-1.5 grid w-fit grid-cols-5 gap-0.5">
          {FACES.map((face) => (
            <button
              key={face}
              type="button"
              aria-label={`Avatar ${face}`}
              aria-pressed={form.avatar === face}
              onClick={() => change({ avatar: face })}
              className="grid size-7 place-items-center rounded-md hover:bg-raised aria-pressed:bg-raised"
            >
              {face}
            </button>
          ))}
        </div>
      </div>
      <div>
        <ColorField color={form.colour} onChange={(color) => change({ colour: color })} />
        <div className="mt-1.5 grid w-fit grid-cols-4 gap-x-2 gap-y-1.5 py-0.5">
          {COLORS.map((color) => (
            <button
              key={color}
              type="button"
              aria-label={`Color ${color}`}
              aria-pressed={form.colour === color}
              onClick={() => change({ colour: color })}
              style={{ background: color }}
              className={clsx(
                "size-6 rounded-full border-2",
                form.colour === color ? "border-ink" : "border-transparent",
              )}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

function ColorField({ color, onChange }: { color: string; onChange: (color: string) => void }) {
  const id = useId();
  return (
    <div>
      <label htmlFor={id} className="mb-1 block text-xs font-medium text-dim">
        Color
      </label>
      <input
        id={id}
        type="color"
        value={color || "#e2703a"}
        onChange={(event) => onChange(event.target.value)}
        className="h-8 w-full rounded-md border border-line bg-bg p-1 pointer-coarse:h-10"
      />
    </div>
  );
}
