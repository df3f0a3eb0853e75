import { type ReactNode, useRef } from "react";
import { TextArea } from "@/ui/Field";
import type { Reference } from "../references";
import { ReferenceSelect } from "./ReferenceSelect";

type Props = {
  label: string;
  value: string;
  references: readonly Reference[];
  onChange: (value: string) => void;
  /** A condition is an expression; a template contains expressions in braces. */
  isExpression?: boolean;
  hint?: ReactNode;
  placeholder?: string;
  rows?: number;
  error?: string | null;
  required?: boolean;
};

/** A text with expressions, and a list of what they can refer to. */
export function TemplateField({
  value,
  references,
  onChange,
  isExpression = false,
  rows = 1,
  ...rest
}: Props) {
  const area = useRef<HTMLTextAreaElement>(null);
  const insert = (reference: string) => {
    const field = area.current;
    if (!field || !reference) return;
    const { selectionStart: from, selectionEnd: to } = field;
    const text = isExpression ? reference : `{{ ${reference} }}`;
    onChange(value.slice(0, from) + text + value.slice(to));
    requestAnimationFrame(() => {
      field.focus();
      field.setSelectionRange(from + text.length, from + text.length);
    });
  };
  return (
    <div className="relative">
      <TextArea
        ref={area}
        mono={isExpression}
        rows={rows}
        spellCheck={!isExpression}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        {...rest}
      />
      {references.length > 0 && (
        <div className="absolute top-0 right-0 leading-none">
          <ReferenceSelect of={rest.label} references={references} insert={insert} />
        </div>
      )}
    </div>
  );
}
