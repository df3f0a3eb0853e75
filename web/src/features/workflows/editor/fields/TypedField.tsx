import type { ComponentProps } from "react";
import { TemplateField } from "./TemplateField";
import { useTyped } from "./useTyped";

type Props<Value> = Omit<ComponentProps<typeof TemplateField>, "value" | "onChange" | "error"> &
  Parameters<typeof useTyped<Value, string>>[0];

/** A value that is written as a text. While it cannot be read, the field says why and the last value counts. */
export function TypedField<Value>({ value, shown, read, onChange, ...rest }: Props<Value>) {
  const { typed, problem, type } = useTyped({ value, shown, read, onChange });
  return <TemplateField {...rest} error={problem} value={typed} onChange={type} />;
}
