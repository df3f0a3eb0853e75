/** Fields that several forms of the editor have. */
import { type ReactNode, useState } from "react";
import { Field, TextArea } from "@/ui/Field";
import { SelectField } from "@/ui/SelectField";

type Labelled = { label: string; hint?: ReactNode };

type Choice<Value extends string> = { value: Value; label: string };

type NameProps = Labelled & {
  value: string;
  known: readonly Choice<string>[];
  /** What stands there while nothing is chosen. */
  nothing: string;
  onChange: (value: string) => void;
};

/** One of those there are; a name that is not among them stays, and says so. */
export function NameField({ value, known, nothing, onChange, ...rest }: NameProps) {
  const isKnown = known.some((one) => one.value === value);
  const options = [
    { value: "", label: nothing },
    ...(value && !isKnown ? [{ value, label: `${value} (not found)` }] : []),
    ...known,
  ];
  return <SelectField {...rest} value={value} options={options} onChange={onChange} />;
}

type NumberProps = Labelled & {
  value: number | undefined;
  /** What counts when it is empty. */
  usual?: string;
  min?: number;
  max?: number;
  step?: number;
  onChange: (value: number | undefined) => void;
};

export function NumberField({ value, usual, step = 1, onChange, ...rest }: NumberProps) {
  return (
    <Field
      type="number"
      inputMode="decimal"
      step={step}
      placeholder={usual}
      value={value ?? ""}
      onChange={({ target }) => onChange(target.value === "" ? undefined : Number(target.value))}
      {...rest}
    />
  );
}

type LinesProps = Labelled & {
  value: readonly string[];
  placeholder?: string;
  onChange: (value: string[]) => void;
};

/** A list, one on each line. Empty lines are only there while somebody types. */
export function LinesField({ value, onChange, ...rest }: LinesProps) {
  const [typed, setTyped] = useState(value.join("\n"));
  const said = linesOf(typed);
  if (said.join("\n") !== value.join("\n")) setTyped(value.join("\n"));
  return (
    <TextArea
      mono
      rows={Math.min(Math.max(value.length + 1, 2), 6)}
      spellCheck={false}
      value={typed}
      onChange={({ target }) => {
        setTyped(target.value);
        onChange(linesOf(target.value));
      }}
      {...rest}
    />
  );
}

const linesOf = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
