import { type FormEvent, useState } from "react";
import { ApiError } from "@/api/client";
import type { ModelPrice } from "@/api/types";
import { Field } from "@/ui/Field";
import { FormActions } from "@/ui/FormActions";
import { Modal } from "@/ui/Modal";
import { Refusal } from "@/ui/Refusal";
import { setPrice, useChange } from "./models";

const KINDS = [
  { name: "input", label: "Input" },
  { name: "output", label: "Output" },
  { name: "cache_read", label: "Cache read" },
  { name: "cache_write", label: "Cache write" },
] as const;

type Props = {
  model: string;
  price?: ModelPrice;
  suggestions: string;
  close: () => void;
  onSaved?: () => void;
};

/** The price of a model in dollars per million tokens. */
export function PriceForm({ model, price, suggestions, close, onSaved }: Props) {
  const [name, setName] = useState(model);
  const [texts, setTexts] = useState<Record<string, string>>(() => toTexts(price));
  const save = useChange(setPrice, {
    done: `Saved the price for ${name.trim()}.`,
    after: () => {
      close();
      onSaved?.();
    },
  });
  const problem = save.error instanceof ApiError ? save.error : null;
  const read = (kind: string) => (texts[kind]?.trim() ? Number(texts[kind]) : null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate({
      model: name.trim(),
      input: read("input") ?? 0,
      output: read("output") ?? 0,
      cache_read: read("cache_read"),
      cache_write: read("cache_write"),
      context_window: read("context_window"),
      text_tool_calls: price?.text_tool_calls ?? null,
    });
  };
  return (
    <Modal
      open
      onOpenChange={close}
      title={model ? `Price for ${model}` : "Set a price"}
      description="Dollars per million tokens. A local model costs 0."
    >
      <form onSubmit={submit} className="mt-4 space-y-4">
        {!model && (
          <Field
            label="Model"
            mono
            required
            list={suggestions}
            placeholder="local:qwen3:8b"
            autoComplete="off"
            spellCheck={false}
            maxLength={240}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        )}
        <div className="grid grid-cols-2 gap-3">
          {KINDS.map((kind, index) => (
            <Amount
              key={kind.name}
              label={kind.label}
              required={index < 2}
              value={texts[kind.name] ?? ""}
              onChange={(text) => setTexts({ ...texts, [kind.name]: text })}
            />
          ))}
        </div>
        <Field
          label="Context window, in tokens"
          type="number"
          min={1000}
          max={100_000_000}
          mono
          placeholder="what the server reports"
          error={problem?.field === "context_window" ? problem.message : null}
          value={texts.context_window ?? ""}
          onChange={(event) => setTexts({ ...texts, context_window: event.target.value })}
        />
        <Refusal error={problem?.field === "context_window" ? null : save.error} />
        <FormActions close={close} isReady={name.trim() !== "" && !save.isPending}>
          Save
        </FormActions>
      </form>
    </Modal>
  );
}

type AmountProps = { label: string; required: boolean; value: string; onChange: (text: string) => void };

function Amount({ label, required, value, onChange }: AmountProps) {
  return (
    <Field
      label={label}
      type="number"
      min={0}
      max={100_000}
      step="any"
      mono
      required={required}
      placeholder={required ? "0" : "same as input"}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

function toTexts(price: ModelPrice | undefined): Record<string, string> {
  if (!price) return {};
  const { input, output, cache_read, cache_write, context_window } = price;
  const numbers = { input, output, cache_read, cache_write, context_window };
  return Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, String(value)]));
}
