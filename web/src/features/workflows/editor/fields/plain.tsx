/** Fields that several forms of the editor have. */
import type { ReactNode } from "react";
import { Field, TextArea } from "@/ui/Field";
import { SelectField } from "@/ui/SelectField";
import { useTyped } from "./useTyped";

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
  /** What is wrong with one of them. */
  problemOf?: (line: string) => string | null;
  onChange: (value: string[]) => void;
};

/** A list, one on each line. Empty lines are only there while somebody types. */
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
