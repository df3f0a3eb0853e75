import { type FormEvent, type ReactNode, useState } from "react";
import { Field } from "./Field";
import { FormActions } from "./FormActions";
import { Refusal } from "./Refusal";

type Props = {
  save: { mutate: (key: string) => void; isPending: boolean; error: unknown };
  close: () => void;
  /** Content above the key field. */
  before?: ReactNode;
  /** Content below the key field. */
  after?: ReactNode;
};

/** A form that asks for a provider's API key. */
export function KeyEntry({ save, close, before, after }: Props) {
  const [value, setValue] = useState("");
  const key = value.trim();
  const isReady = key !== "" && !save.isPending;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady) save.mutate(key);
  };
  return (
    <form onSubmit={submit} className="mt-4 space-y-4">
      {before}
      <Field
        label="Key"
        type="password"
        mono
        required
        autoComplete="off"
        spellCheck={false}
        value={value}
        onChange={(event) => setValue(event.target.value)}
      />
      <Refusal error={save.error} />
      {after}
      <FormActions close={close} isReady={isReady}>
        Save
      </FormActions>
    </form>
  );
}
