import { X } from "lucide-react";
import { type ReactNode, useId } from "react";
import { Select } from "@/ui/Select";
import { type Definition, stepOf, titleOf } from "../../definition/model";

type Props = {
  label: string;
  hint?: ReactNode;
  definition: Definition;
  value: readonly string[];
  /** The steps that can be added. */
  choices: readonly string[];
  onAdd: (id: string) => void;
  onRemove: (id: string) => void;
};

/** A list of steps that can be extended and reduced. */
export function StepsField({ label, hint, definition, value, choices, onAdd, onRemove }: Props) {
  const id = useId();
  const named = (step: string) => {
    const found = stepOf(definition, step);
    return found ? titleOf(found) : `${step} (not found)`;
  };
  return (
    <fieldset aria-describedby={hint ? id : undefined}>
      <legend className="mb-1 text-xs font-medium text-dim">{label}</legend>
      {value.length > 0 && (
        <ul className="mb-1.5 flex flex-wrap gap-1">
          {value.map((step) => (
            <li
              key={step}
              className="flex max-w-full items-center rounded-md border border-line bg-raised pl-2"
            >
              <span className="truncate">{named(step)}</span>
              <button
                type="button"
                aria-label={`Remove ${named(step)}`}
                onClick={() => onRemove(step)}
                className="grid size-6 place-items-center rounded-sm text-dim hover:text-ink pointer-coarse:size-8"
              >
                <X size={12} aria-hidden />
              </button>
            </li>
          ))}
        </ul>
      )}
      {choices.length > 0 && (
        <Select
          label={`Add a step: ${label}`}
          value=""
          options={[
            { value: "", label: "Add a step…" },
            ...choices.map((step) => ({ value: step, label: named(step) })),
          ]}
          onChange={(step) => step && onAdd(step)}
          className="w-full"
        />
      )}
      {hint && (
        <p id={id} className="mt-1 text-xs text-dim">
          {hint}
        </p>
      )}
    </fieldset>
  );
}
