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

/** The index is fetched when the form is submitted; if that fails, the form stays open. */
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
      description="The index is downloaded and cached, so it can be searched offline."
    >
      <form onSubmit={submit} className="mt-4 space-y-4">
        <Field
          label="Index URL"
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
          hint="A local name for the registry."
          error={name && !isNamed ? "Lowercase letters and digits, separated by single hyphens." : null}
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
