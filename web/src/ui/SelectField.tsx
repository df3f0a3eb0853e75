import type { ReactNode } from "react";
import { Select } from "./Select";

type Props<Value extends string> = {
  label: string;
  hint?: ReactNode;
  value: Value;
  options: readonly { value: Value; label: string }[];
  onChange: (value: Value) => void;
};

/** A select as a form field with label and hint. */
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
        // All options are of this type, so no other value can be chosen.
        onChange={(chosen) => onChange(chosen as Value)}
        className="w-full [&>select]:h-8 pointer-coarse:[&>select]:h-10"
      />
      {hint && <p className="mt-1 text-xs text-dim">{hint}</p>}
    </div>
  );
}
