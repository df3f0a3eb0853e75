import { Link } from "@tanstack/react-router";
import { type FormEvent, useId, useState } from "react";
import { Button } from "@/ui/Button";
import { Field, TextArea } from "@/ui/Field";
import { FRAMES, type Frame, wrongName } from "./frames";

type Wish = { name: string; description: string; frame: Frame };

/** How a new skill is called, what it is for, and what it begins with. */
export function Begin({ begin }: { begin: (wish: Wish) => void }) {
  const [wish, setWish] = useState<Wish>({ name: "", description: "", frame: "prompt" });
  const change = (changed: Partial<Wish>) => setWish((before) => ({ ...before, ...changed }));
  const mistake = wrongName(wish.name);
  const isReady = mistake === null && wish.description.trim() !== "";
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady) begin(wish);
  };
  return (
    <form onSubmit={submit} className="mx-auto max-w-[640px] space-y-4 p-4 sm:py-8">
      <p className="text-dim">
        Nothing is saved before you say so. Would you rather talk about it?{" "}
        <Link to="/forge" search={{ mode: "skill" }} className="text-ink underline underline-offset-2">
          Forge asks a few questions
        </Link>{" "}
        and writes it for you.
      </p>
      <Field
        label="Name"
        mono
        required
        autoFocus
        maxLength={64}
        autoComplete="off"
        spellCheck={false}
        placeholder="release-notes"
        hint="Small letters, digits and hyphens: it is also the name of its folder."
        error={wish.name && mistake}
        value={wish.name}
        onChange={(event) => change({ name: event.target.value })}
      />
      <TextArea
        label="What it does, and when to use it"
        rows={2}
        required
        maxLength={1024}
        placeholder="Writes release notes from a list of commits. Use when somebody asks what is new in a version."
        hint="Bots read this to decide whether the skill fits what they are asked."
        value={wish.description}
        onChange={(event) => change({ description: event.target.value })}
      />
      <Kinds value={wish.frame} onChange={(frame) => change({ frame })} />
      <div className="flex justify-end">
        <Button look="primary" type="submit" disabled={!isReady}>
          Begin writing
        </Button>
      </div>
    </form>
  );
}

function Kinds({ value, onChange }: { value: Frame; onChange: (frame: Frame) => void }) {
  const name = useId();
  return (
    <fieldset>
      <legend className="mb-1 text-xs font-medium text-dim">It begins as</legend>
      <div className="grid gap-2 sm:grid-cols-2">
        {(Object.keys(FRAMES) as Frame[]).map((frame) => (
          <label
            key={frame}
            className="flex cursor-pointer gap-2 rounded-md border border-line p-2.5 hover:border-strong has-checked:border-accent has-checked:bg-raised/40 has-focus-visible:outline-2 has-focus-visible:outline-accent"
          >
            <input
              type="radio"
              name={name}
              checked={frame === value}
              onChange={() => onChange(frame)}
              className="mt-[3px] size-3.5 shrink-0 accent-accent"
            />
            <span>
              <span className="block font-medium">{FRAMES[frame].title}</span>
              <span className="block text-dim">{FRAMES[frame].meaning}</span>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
