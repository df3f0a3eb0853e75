import type { ComponentProps } from "react";
import { TemplateField } from "./TemplateField";
import { useTyped } from "./useTyped";

type Props<Value> = Omit<ComponentProps<typeof TemplateField>, "value" | "onChange" | "error"> &
  Parameters<typeof useTyped<Value, string>>[0];

/** A value edited as text. While it is invalid, the field shows the problem and the last value is kept. */
export function TypedField<Value>({ value, shown, read, onChange, ...rest }: Props<Value>) {
  const { typed, problem, type } = useTyped({ value, shown, read, onChange });
  return <TemplateField {...rest} error={problem} value={typed} onChange={type} />;
}
