import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { addRegistry, registriesQuery } from "@/api/registries";
import { count } from "@/ui/count";
import { Field } from "@/ui/Field";
import { FormActions } from "@/ui/FormActions";
import { Modal } from "@/ui/Modal";
import { Refusal } from "@/ui/Refusal";
import { toast } from "@/ui/toast";

const NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** Its index is fetched at once; one that cannot be read is not added, and what was typed stays. */
export function RegistryForm({ close }: { close: () => void }) {
  const queries = useQueryClient();
  const [name, setName] = useState("");
  const [url, setUrl] = useState("");
  const add = useMutation({
    mutationFn: addRegistry,
    meta: { isShownInPlace: true },
    onSuccess: async (added) => {
      close();
      toast.ok(`Added ${added.name}: ${count(added.skills, "skill")}.`);
      await queries.invalidateQueries({ queryKey: registriesQuery.queryKey });
    },
  });
  const isNamed = NAME.test(name.trim());
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add.mutate({ name: name.trim(), url: url.trim() });
  };
  return (
    <Modal
      open
      onOpenChange={close}
      title="Add a registry"
      description="Its index is fetched now, and kept: what it offers can be searched without a connection."
    >
      <form onSubmit={submit} className="mt-4 space-y-4">
        <Field
          label="Address of the index"
          mono
          required
          autoComplete="off"
          spellCheck={false}
          placeholder="https://skills.example.com/index.json"
          value={url}
          onChange={(event) => setUrl(event.target.value)}
        />
        <Field
          label="Name"
          mono
          required
          maxLength={64}
          autoComplete="off"
          spellCheck={false}
          placeholder="team"
          hint="What you call it here."
          error={name && !isNamed ? "Small letters, digits and single hyphens between them." : null}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <Refusal error={add.error} />
        <FormActions close={close} isReady={isNamed && url.trim() !== "" && !add.isPending}>
          {add.isPending ? "Fetching…" : "Add"}
        </FormActions>
      </form>
    </Modal>
  );
}
