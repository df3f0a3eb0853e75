import { ArrowRight } from "lucide-react";
import { type FormEvent, useId, useState } from "react";
import type { NewInterview } from "@/api/types";
import { Button } from "@/ui/Button";
import { Kbd } from "@/ui/Kbd";
import { onSend } from "@/ui/keys";
import { Refusal } from "@/ui/Refusal";
import { Segmented } from "@/ui/Segmented";
import { Select } from "@/ui/Select";
import { useWritingFocus } from "@/ui/useWritingFocus";
import { ImportSoul } from "./ImportSoul";
import { Voice } from "./Voice";
import { bodyOf, EXAMPLES, isSaid, type Kind, NO_WISH, type Wish } from "./wish";

const MAX_CHARACTERS = 20_000;

const KIND_OPTIONS = [
  { value: "bot", label: "Bot" },
  { value: "skill", label: "Skill" },
  { value: "batch", label: "Several bots" },
] as const;

const HINTS: Record<Kind, string> = {
  bot: "What should your bot do, and for whom?",
  skill: "What should the skill do?",
  batch: "What should they do, and how should they differ?",
};

const COUNTS = Array.from({ length: 9 }, (_, index) => ({
  value: String(index + 2),
  label: `${index + 2} bots`,
}));

type Props = {
  kind: Kind;
  start: (body: Partial<NewInterview>) => void;
  isBusy: boolean;
  error: unknown;
};

/** The form that starts an interview. */
export function Describe({ kind, start, isBusy, error }: Props) {
  const [wish, setWish] = useState<Wish>({ ...NO_WISH, kind });
  const change = (changed: Partial<Wish>) => setWish((before) => ({ ...before, ...changed }));
  const field = useWritingFocus();
  const id = useId();
  const isReady = isSaid(wish) && !isBusy;
  const send = () => isReady && start(bodyOf(wish));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    send();
  };
  return (
    <form onSubmit={submit} className="space-y-3">
      <h2 className="text-xl font-semibold">
        <label htmlFor={id}>{HINTS[wish.kind]}</label>
      </h2>
      <div className="rounded-lg border border-line bg-surface focus-within:border-accent">
        <textarea
          ref={field}
          id={id}
          rows={3}
          maxLength={MAX_CHARACTERS}
          placeholder={`For example: ${EXAMPLES[wish.kind][0]}`}
          value={wish.description}
          onChange={(event) => change({ description: event.target.value })}
          onKeyDown={onSend(send)}
          className="field-sizing-content max-h-[40vh] min-h-20 w-full resize-none bg-transparent px-3 py-2.5 text-base outline-none placeholder:text-faint"
        />
        <div className="flex flex-wrap items-center gap-2 p-2 pt-0">
          <Segmented
            label="What to create"
            value={wish.kind}
            options={KIND_OPTIONS}
            onChange={(kind) => change({ kind })}
          />
          {wish.kind === "batch" && (
            <Select
              label="How many"
              value={String(wish.variants)}
              options={COUNTS}
              onChange={(value) => change({ variants: Number(value) })}
            />
          )}
          <Button type="submit" look="primary" className="ml-auto" disabled={!isReady}>
            {isBusy ? "Starting…" : "Start"} <ArrowRight size={13} aria-hidden /> <Kbd keys="mod+enter" />
          </Button>
        </div>
      </div>
      <Refusal error={error} />
      <Examples of={wish.kind} choose={(description) => change({ description })} field={field} />
      {wish.kind === "bot" && <ImportSoul soul={wish.soul} onChange={(soul) => change({ soul })} />}
      <Voice speaker={wish.speaker} choose={(speaker) => change({ speaker })} />
    </form>
  );
}

type ExamplesProps = {
  of: Kind;
  choose: (text: string) => void;
  field: { current: HTMLTextAreaElement | null };
};

function Examples({ of: kind, choose, field }: ExamplesProps) {
  return (
    <ul aria-label="Examples" className="flex flex-wrap gap-1.5">
      {EXAMPLES[kind].map((example) => (
        <li key={example} className="max-w-full">
          <button
            type="button"
            onClick={() => {
              choose(example);
              field.current?.focus();
            }}
            className="min-h-6 max-w-full rounded-full border border-line bg-surface px-2.5 py-0.5 text-left text-xs break-words text-dim hover:border-strong hover:text-ink pointer-coarse:min-h-9"
          >
            {example}
          </button>
        </li>
      ))}
    </ul>
  );
}
