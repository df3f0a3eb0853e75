import { Link } from "@tanstack/react-router";
import { type FormEvent, useId, useState } from "react";
import type { SkillFrame } from "@/api/types";
import { Button } from "@/ui/Button";
import { Field, TextArea } from "@/ui/Field";
import { wrongName } from "./draft";

type Kind = Pick<SkillFrame, "kind" | "language"> & { title: string; meaning: string };
type Props = { isPending: boolean; begin: (wish: SkillFrame) => void };

const PROMPT: Kind = {
  kind: "prompt",
  title: "Instructions",
  meaning: "Instructions a bot follows when the task matches.",
};
const KINDS: Kind[] = [
  PROMPT,
  {
    kind: "script",
    language: "js",
    title: "Script in JavaScript",
    meaning: "JSON in, JSON out, with access only to what is granted.",
  },
  {
    kind: "script",
    language: "py",
    title: "Script in Python",
    meaning: "The same in Python. Nothing to install.",
  },
  {
    kind: "local",
    language: "py",
    title: "Program",
    meaning: "A Python program on this machine, run in the sandbox. Requires a grant before it runs.",
  },
];

/** Name, description and template of a new skill. */
export function Begin({ isPending, begin }: Props) {
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const [chosen, setChosen] = useState(PROMPT);
  const mistake = wrongName(name);
  const isReady = mistake === null && description.trim() !== "" && !isPending;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const { kind, language = null } = chosen;
    if (isReady) begin({ name, description: description.trim(), kind, language });
  };
  return (
    <form onSubmit={submit} className="mx-auto max-w-[640px] space-y-4 p-4 sm:py-8">
      <p className="text-dim">
        Nothing is saved until you choose to. Prefer a conversation?{" "}
        <Link to="/forge" search={{ mode: "skill" }} className="text-ink underline underline-offset-2">
          Let Forge ask a few questions
        </Link>{" "}
        and write it for you.
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
        hint="Lowercase letters, digits and hyphens. Also the name of its folder."
        error={name && mistake}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <TextArea
        label="What it does and when to use it"
        rows={2}
        required
        maxLength={1024}
        placeholder="Writes release notes from a list of commits. Use when asked what is new in a version."
        hint="Bots read this to decide when to use the skill."
        value={description}
        onChange={(event) => setDescription(event.target.value)}
      />
      <Kinds value={chosen} onChange={setChosen} />
      <div className="flex justify-end">
        <Button look="primary" type="submit" disabled={!isReady}>
          Continue
        </Button>
      </div>
    </form>
  );
}

function Kinds({ value, onChange }: { value: Kind; onChange: (kind: Kind) => void }) {
  const name = useId();
  return (
    <fieldset>
      <legend className="mb-1 text-xs font-medium text-dim">Starting content</legend>
      <div className="grid gap-2 sm:grid-cols-2">
        {KINDS.map((kind) => (
          <label
            key={kind.title}
            className="flex cursor-pointer gap-2 rounded-md border border-line p-2.5 hover:border-strong has-checked:border-accent has-checked:bg-raised/40 has-focus-visible:outline-2 has-focus-visible:outline-accent"
          >
            <input
              type="radio"
              name={name}
              checked={kind === value}
              onChange={() => onChange(kind)}
              className="mt-[3px] size-3.5 shrink-0 accent-accent"
            />
            <span>
              <span className="block font-medium">{kind.title}</span>
              <span className="block text-dim">{kind.meaning}</span>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
