/** Fields shared by several forms. */
import type { ReactNode } from "react";
import { Field, TextArea } from "@/ui/Field";
import { SelectField } from "@/ui/SelectField";
import { useTyped } from "./useTyped";

type Labeled = { label: string; hint?: ReactNode };

type Choice<Value extends string> = { value: Value; label: string };

type NameProps = Labeled & {
  value: string;
  known: readonly Choice<string>[];
  /** The label of the empty option. */
  nothing: string;
  onChange: (value: string) => void;
};

/** Choose a name; an unknown one stays selected and is marked. */
export function NameField({ value, known, nothing, onChange, ...rest }: NameProps) {
  const isKnown = known.some((one) => one.value === value);
  const options = [
    { value: "", label: nothing },
    ...(value && !isKnown ? [{ value, label: `${value} (not found)` }] : []),
    ...known,
  ];
  return <SelectField {...rest} value={value} options={options} onChange={onChange} />;
}

type NumberProps = Labeled & {
  value: number | undefined;
  /** The placeholder, which shows the default. */
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

type LinesProps = Labeled & {
  value: readonly string[];
  placeholder?: string;
  /** The problem of one line, or null. */
  problemOf?: (line: string) => string | null;
  onChange: (value: string[]) => void;
};

/** A list with one item per line. Empty lines are ignored. */
export function LinesField({ value, problemOf = () => null, onChange, ...rest }: LinesProps) {
  const { typed, problem, type } = useTyped<readonly string[], string>({
    value,
    shown: (lines) => lines.join("\n"),
    read: (text) => {
      const lines = linesOf(text);
      const problem = lines.map(problemOf).find((one) => one !== null);
      return problem ? { problem } : { value: lines, problem: null };
    },
    onChange: (lines) => onChange([...lines]),
  });
  return (
    <TextArea
      mono
      rows={Math.min(Math.max(value.length + 1, 2), 6)}
      spellCheck={false}
      error={problem}
      value={typed}
      onChange={({ target }) => type(target.value)}
      {...rest}
    />
  );
}

const linesOf = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
