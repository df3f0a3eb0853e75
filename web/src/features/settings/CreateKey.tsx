import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { ApiError } from "@/api/client";
import type { Scope } from "@/api/types";
import { Button } from "@/ui/Button";
import { CheckField } from "@/ui/CheckField";
import { CopyButton } from "@/ui/CopyButton";
import { Field } from "@/ui/Field";
import { FormActions } from "@/ui/FormActions";
import { Modal } from "@/ui/Modal";
import { createKey, keysQuery } from "./keys";

const SCOPES: readonly { scope: Scope; meaning: string }[] = [
  { scope: "read", meaning: "view runs, logs and settings" },
  { scope: "write", meaning: "start and cancel runs, answer questions, create keys" },
  { scope: "admin", meaning: "change secrets, models and grants, create login links" },
];

type Props = { open: boolean; onOpenChange: (open: boolean) => void };

export function CreateKey({ open, onOpenChange }: Props) {
  return (
    <Modal
      open={open}
      onOpenChange={onOpenChange}
      title="Create an API key"
      description="For a script or another machine. Grant only what it needs."
    >
      <CreateKeyForm close={() => onOpenChange(false)} />
    </Modal>
  );
}

function CreateKeyForm({ close }: { close: () => void }) {
  const queries = useQueryClient();
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<Scope[]>(["read"]);
  const create = useMutation({
    mutationFn: createKey,
    meta: { isShownInPlace: true },
    onSuccess: () => queries.invalidateQueries({ queryKey: keysQuery.queryKey }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate({ name: name.trim(), scopes });
  };
  if (create.data) return <ShownOnce value={create.data.key} close={close} />;
  return (
    <form onSubmit={submit} className="mt-4 space-y-4">
      <Field
        label="Name"
        placeholder="nightly audit"
        required
        maxLength={100}
        value={name}
        onChange={(event) => setName(event.target.value)}
        error={create.error instanceof ApiError ? create.error.message : null}
      />
      <fieldset className="space-y-1.5">
        <legend className="mb-1 text-xs font-medium text-dim">Permissions</legend>
        {SCOPES.map(({ scope, meaning }) => (
          <CheckField
            key={scope}
            label={scope}
            hint={meaning}
            checked={scopes.includes(scope)}
            onChange={(isOn) =>
              setScopes(isOn ? [...scopes, scope] : scopes.filter((other) => other !== scope))
            }
          />
        ))}
      </fieldset>
      <FormActions close={close} isReady={name.trim() !== "" && scopes.length > 0 && !create.isPending}>
        Create
      </FormActions>
    </form>
  );
}

function ShownOnce({ value, close }: { value: string; close: () => void }) {
  return (
    <div className="mt-4 space-y-3">
      <p role="status">
        Copy the key now. It is shown <strong className="font-semibold">only once</strong>.
      </p>
      <code className="mono block rounded-md border border-line bg-bg p-2 break-all select-all">{value}</code>
      <div className="flex justify-end gap-2">
        <CopyButton text={value} label="Copy key" />
        <Button look="primary" onClick={close}>
          Done
        </Button>
      </div>
    </div>
  );
}
