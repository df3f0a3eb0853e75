import { ArrowDown, ArrowUp, Plus, X } from "lucide-react";
import { type FormEvent, useState } from "react";
import { ApiError } from "@/api/client";
import type { ModelRole, Models } from "@/api/types";
import { Button, IconButton } from "@/ui/Button";
import { Field } from "@/ui/Field";
import { FormActions } from "@/ui/FormActions";
import { Modal } from "@/ui/Modal";
import { Refusal } from "@/ui/Refusal";
import { resetChain, setChain, useChange } from "./models";
import { PriceForm } from "./PriceForm";

const MAX_MODELS = 5;

type Props = { role: ModelRole; models: Models; suggestions: string; close: () => void };

/** The models of a role, in the order in which they are tried. */
export function ChainForm({ role, models, suggestions, close }: Props) {
  const [chain, setModels] = useState<readonly string[]>(role.chain);
  const [isPricing, setPricing] = useState(false);
  const done = { done: `Saved the models for ${role.role}.`, after: close };
  const save = useChange(setChain, done);
  const reset = useChange(resetChain, done);
  const given = chain.map((model) => model.trim());
  const isBusy = save.isPending || reset.isPending;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate({ role: role.role, chain: given });
  };
  const unpriced = withoutPrice(save.error, given, models);
  if (isPricing && unpriced) {
    const back = () => setPricing(false);
    return <PriceForm model={unpriced} suggestions={suggestions} close={back} onSaved={save.reset} />;
  }
  return (
    <Modal
      open
      onOpenChange={close}
      title={`Models for ${role.role}`}
      description="Written as provider:model. A fallback is used only when the provider before it is unavailable."
    >
      <form onSubmit={submit} className="mt-4 space-y-3">
        {chain.map((model, index) => (
          <ModelField
            // biome-ignore lint/suspicious/noArrayIndexKey: a place in the chain is its number
            key={index}
            model={model}
            index={index}
            last={chain.length - 1}
            isWrong={save.error instanceof ApiError && save.error.field === String(index)}
            suggestions={suggestions}
            onChange={(text) => setModels(chain.with(index, text))}
            onMove={(by) => setModels(moved(chain, index, by))}
            onRemove={() => setModels(chain.toSpliced(index, 1))}
          />
        ))}
        {chain.length < MAX_MODELS && (
          <Button look="ghost" onClick={() => setModels([...chain, ""])}>
            <Plus size={13} aria-hidden /> Add a fallback
          </Button>
        )}
        <Refusal error={save.error ?? reset.error} />
        {unpriced && <Button onClick={() => setPricing(true)}>Set a price for {unpriced}</Button>}
        <FormActions
          close={close}
          isReady={given.every(Boolean) && !isBusy}
          instead={
            role.source === "account" && (
              <Button look="ghost" disabled={isBusy} onClick={() => reset.mutate(role.role)}>
                Reset to default
              </Button>
            )
          }
        >
          Save
        </FormActions>
      </form>
    </Modal>
  );
}

type FieldProps = {
  model: string;
  index: number;
  last: number;
  isWrong: boolean;
  suggestions: string;
  onChange: (text: string) => void;
  onMove: (by: 1 | -1) => void;
  onRemove: () => void;
};

function ModelField({ model, index, last, isWrong, suggestions, onChange, onMove, onRemove }: FieldProps) {
  const name = index === 0 ? "Model" : `Fallback ${index}`;
  const buttons = last > 0 && (
    <span className="flex items-center">
      <IconButton label={`Move ${name} up`} disabled={index === 0} onClick={() => onMove(-1)}>
        <ArrowUp size={14} aria-hidden />
      </IconButton>
      <IconButton label={`Move ${name} down`} disabled={index === last} onClick={() => onMove(1)}>
        <ArrowDown size={14} aria-hidden />
      </IconButton>
      <IconButton label={`Remove ${name}`} onClick={onRemove}>
        <X size={14} aria-hidden />
      </IconButton>
    </span>
  );
  return (
    <Field
      label={name}
      mono
      required
      list={suggestions}
      placeholder="anthropic:claude-sonnet-4-5"
      autoComplete="off"
      spellCheck={false}
      maxLength={240}
      aria-invalid={isWrong}
      value={model}
      onChange={(event) => onChange(event.target.value)}
      action={buttons}
    />
  );
}

export function moved<Item>(items: readonly Item[], from: number, by: number): Item[] {
  const others = items.toSpliced(from, 1);
  return others.toSpliced(from + by, 0, ...items.slice(from, from + 1));
}

/** The model that was rejected because it has no price although its provider is known. */
export function withoutPrice(error: unknown, chain: readonly string[], { providers }: Models): string | null {
  if (!(error instanceof ApiError) || error.code !== "model_unknown") return null;
  const model = chain[Number(error.field)];
  if (model === undefined) return null;
  const [provider] = model.split(":", 1);
  const isKnown = !model.includes(":") || providers.some(({ name }) => name === provider);
  return isKnown ? model : null;
}
