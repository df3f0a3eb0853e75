import { type FormEvent, type KeyboardEvent, useState } from "react";
import type { NewMemory } from "@/api/memories";
import type { MemoryCategory } from "@/api/types";
import { Button } from "@/ui/Button";
import { TextArea } from "@/ui/Field";
import { Refusal } from "@/ui/Refusal";
import { Select } from "@/ui/Select";
import { CATEGORIES, IMPORTANCES, LONGEST_FACT } from "./words";

type Props = {
  start: NewMemory;
  action: string;
  error: unknown;
  isBusy: boolean;
  onSubmit: (memory: NewMemory) => void;
  cancel: () => void;
};

export const NEW: NewMemory = { fact: "", category: "fact", importance: 3, is_pinned: false };

/** Create or edit a memory. Enter saves, Escape cancels. */
export function MemoryForm({ start, action, error, isBusy, onSubmit, cancel }: Props) {
  const [memory, setMemory] = useState(start);
  const change = (changed: Partial<NewMemory>) => setMemory((before) => ({ ...before, ...changed }));
  const isReady = memory.fact.trim() !== "" && !isBusy;
  const send = () => isReady && onSubmit({ ...memory, fact: memory.fact.trim() });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    send();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") cancel();
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  return (
    <form onSubmit={submit} className="space-y-2 px-3 py-2">
      <TextArea
        label="What the bot should know"
        rows={2}
        autoFocus
        maxLength={LONGEST_FACT}
        placeholder="Prefers short answers, with an example."
        value={memory.fact}
        onChange={(event) => change({ fact: event.target.value })}
        onKeyDown={onKeyDown}
      />
      <Refusal error={error} />
      <div className="flex flex-wrap items-center gap-2">
        <Select
          label="Category"
          value={memory.category}
          options={CATEGORIES}
          onChange={(category) => change({ category: category as MemoryCategory })}
        />
        <Select
          label="Importance"
          value={String(memory.importance)}
          options={IMPORTANCES}
          onChange={(importance) => change({ importance: Number(importance) })}
        />
        <div className="ml-auto flex gap-2">
          <Button look="ghost" onClick={cancel}>
            Cancel
          </Button>
          <Button look="primary" type="submit" disabled={!isReady}>
            {action}
          </Button>
        </div>
      </div>
    </form>
  );
}
