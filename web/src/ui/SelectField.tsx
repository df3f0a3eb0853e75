import type { ReactNode } from "react";
import { Select } from "./Select";

type Props<Value extends string> = {
  label: string;
  hint?: ReactNode;
  value: Value;
  options: readonly { value: Value; label: string }[];
  onChange: (value: Value) => void;
};

/** One of a few, as a field of a form: its label above, its hint below. */
export function SelectField<Value extends string>({ label, hint, value, options, onChange }: Props<Value>) {
  return (
    <div>
      <span aria-hidden className="mb-1 block text-xs font-medium text-dim">
        {label}
      </span>
      <Select
        label={label}
        value={value}
        options={options}
        // What is offered are values of this type, and nothing else can be chosen.
        onChange={(chosen) => onChange(chosen as Value)}
        className="w-full [&>select]:h-8 pointer-coarse:[&>select]:h-10"
      />
      {hint && <p className="mt-1 text-xs text-dim">{hint}</p>}
    </div>
  );
}
