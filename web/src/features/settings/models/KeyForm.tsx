import { type FormEvent, useState } from "react";
import type { ModelProvider } from "@/api/types";
import { Field } from "@/ui/Field";
import { FormActions } from "@/ui/FormActions";
import { Modal } from "@/ui/Modal";
import { Refusal } from "@/ui/Refusal";
import { setKey, useChange } from "./models";

/** The key of a provider, into the vault. */
export function KeyForm({ provider, close }: { provider: ModelProvider; close: () => void }) {
  const [value, setValue] = useState("");
  const save = useChange(setKey, { done: `Saved the key of ${provider.name}.`, after: close });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate({ name: provider.key_name ?? "", value: value.trim() });
  };
  return (
    <Modal
      open
      onOpenChange={close}
      title={`Key of ${provider.name}`}
      description={
        <>
          Kept encrypted as the secret <code className="mono">{provider.key_name}</code>, and never shown
          again.
        </>
      }
    >
      <form onSubmit={submit} className="mt-4 space-y-4">
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
        <FormActions close={close} isReady={value.trim() !== "" && !save.isPending}>
          Save
        </FormActions>
      </form>
    </Modal>
  );
}
