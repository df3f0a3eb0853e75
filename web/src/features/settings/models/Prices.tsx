import { Plus } from "lucide-react";
import { useId, useState } from "react";
import type { ModelPrice, Models } from "@/api/types";
import { Button } from "@/ui/Button";
import { EmptyState } from "@/ui/EmptyState";
import { formatPrice, formatTokens } from "@/ui/money";
import { Panel } from "@/ui/Panel";
import { toast } from "@/ui/toast";
import { removePrice, useChange } from "./models";
import { PriceForm } from "./PriceForm";
import { Suggestions } from "./Suggestions";

/** Prices set by the person. */
export function Prices({ models }: { models: Models }) {
  const [editing, setEditing] = useState<string | null>(null);
  const suggestions = useId();
  const remove = useChange(removePrice, { done: "Price removed." });
  const found = Object.entries(models.prices);
  const price = editing ? models.prices[editing] : undefined;
  const add = (
    <Button onClick={() => setEditing("")}>
      <Plus size={13} aria-hidden /> Set a price
    </Button>
  );
  return (
    <Panel title="Your prices" count={found.length} actions={found.length > 0 && add}>
      <Suggestions id={suggestions} models={models.known} />
      {found.length === 0 ? (
        <EmptyState
          title="No custom prices"
          sentence="Anthropic and OpenAI prices are built in. Add prices for other models, or override them."
          action={add}
        />
      ) : (
        <ul aria-label="Your prices" className="divide-y divide-line">
          {found.map(([model, own]) => (
            <PriceRow
              key={model}
              model={model}
              price={own}
              onChange={() => setEditing(model)}
              onRemove={() => remove.mutate(model, { onError: (error) => toast.error(error) })}
            />
          ))}
        </ul>
      )}
      {editing !== null && (
        <PriceForm
          model={editing}
          {...(price && { price })}
          suggestions={suggestions}
          close={() => setEditing(null)}
        />
      )}
    </Panel>
  );
}

type RowProps = { model: string; price: ModelPrice; onChange: () => void; onRemove: () => void };

function PriceRow({ model, price, onChange, onRemove }: RowProps) {
  const window = formatTokens(price.context_window ?? 0);
  return (
    <li aria-label={model} className="grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-3 px-3 py-1.5">
      <div className="min-w-0 py-1">
        <p className="mono font-medium break-all">{model}</p>
        <p className="text-xs text-dim">
          {formatPrice(price.input)} in, {formatPrice(price.output)} out, {formatPrice(price.cache_read)}{" "}
          cache read, {formatPrice(price.cache_write)} cache write; window {window}
        </p>
      </div>
      <div className="-mr-2 flex max-sm:flex-col">
        <Button look="ghost" aria-label={`Change the price of ${model}`} onClick={onChange}>
          Change
        </Button>
        <Button look="ghost" aria-label={`Remove the price of ${model}`} onClick={onRemove}>
          Remove
        </Button>
      </div>
    </li>
  );
}
