import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { ApiError } from "@/api/client";
import { putSecret, secretsQuery } from "@/api/secrets";
import type { Secret } from "@/api/types";
import { Field, TextArea } from "@/ui/Field";
import { FormActions } from "@/ui/FormActions";
import { Modal } from "@/ui/Modal";
import { toast } from "@/ui/toast";

/** Add a secret or replace the value of an existing one. */
export function SecretForm({ replaces, close }: { replaces: Secret | null; close: () => void }) {
  const queries = useQueryClient();
  const [name, setName] = useState(replaces?.name ?? "");
  const [scope, setScope] = useState(replaces?.scope ?? "");
  const [value, setValue] = useState("");
  const put = useMutation({
    mutationFn: putSecret,
    meta: { isShownInPlace: true },
    onSuccess: async (secret) => {
      close();
      toast.ok(`Saved ${secret.name}.`);
      await queries.invalidateQueries({ queryKey: secretsQuery.queryKey });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    put.mutate({ name: name.trim(), scope: scope.trim(), value });
  };
  const problem = put.error instanceof ApiError ? put.error : null;
  const errorAt = (field: string) => (problem?.field === field ? problem.message : null);
  const isElsewhere = problem && !["name", "scope"].includes(problem.field ?? "");

  return (
    <Modal
      open
      onOpenChange={close}
      title={replaces ? `Replace ${replaces.name}` : "Add a secret"}
      description="The value is encrypted. Only its last four characters are shown again."
    >
      <form onSubmit={submit} className="mt-4 space-y-4">
        {!replaces && (
          <>
            <Field
              label="Name"
              mono
              required
              autoComplete="off"
              spellCheck={false}
              placeholder="ANTHROPIC_API_KEY"
              hint="Letters, digits, dots, dashes and underscores."
              value={name}
              onChange={(event) => setName(event.target.value)}
              error={errorAt("name")}
            />
            <Field
              label="Scope"
              hint="Leave empty to share it with everything, or limit it to one owner, such as bot:7f3a."
              mono
              autoComplete="off"
              spellCheck={false}
              value={scope}
              onChange={(event) => setScope(event.target.value)}
              error={errorAt("scope")}
            />
          </>
        )}
        <TextArea
          label="Value"
          mono
          required
          rows={3}
          autoComplete="off"
          spellCheck={false}
          value={value}
          onChange={(event) => setValue(event.target.value)}
          error={isElsewhere ? problem.message : null}
        />
        <FormActions close={close} isReady={name.trim() !== "" && value !== "" && !put.isPending}>
          Save
        </FormActions>
      </form>
    </Modal>
  );
}
