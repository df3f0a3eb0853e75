import { type ReactNode, useState } from "react";
import type { Json } from "../../definition/model";
import { readJson, shownJson } from "../json";
import type { Reference } from "../references";
import { TemplateField } from "./TemplateField";

type Props = {
  label: string;
  value: Json | undefined;
  references: readonly Reference[];
  onChange: (value: Json | undefined) => void;
  hint?: ReactNode;
  placeholder?: string;
  rows?: number;
};

/** Any value: JSON, or a text. While it is neither, what was typed stays here and the last value counts. */
export function JsonField({ value, onChange, ...rest }: Props) {
  const [typed, setTyped] = useState({ text: shownJson(value), of: value });
  if (typed.of !== value && JSON.stringify(typed.of) !== JSON.stringify(value)) {
    setTyped({ text: shownJson(value), of: value });
  }
  const read = readJson(typed.text);
  return (
    <TemplateField
      {...rest}
      rows={rest.rows ?? 4}
      error={read.problem}
      value={typed.text}
      onChange={(text) => {
        const next = readJson(text);
        setTyped({ text, of: next.problem === null ? next.value : typed.of });
        if (next.problem === null) onChange(next.value);
      }}
    />
  );
}
