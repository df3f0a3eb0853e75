import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { modelsQuery } from "@/api/models";
import { putSecret, secretsQuery } from "@/api/secrets";
import type { Models } from "@/api/types";
import { KeyEntry } from "@/ui/KeyEntry";
import { Modal } from "@/ui/Modal";
import { SelectField } from "@/ui/SelectField";
import { toast } from "@/ui/toast";

/** `then` runs after the key is stored and before the dialog closes; its errors are shown here. */
type Props = { close: () => void; then?: () => Promise<unknown> };

/** Store a provider's key without leaving the page. */
export function SetUpModel(props: Props) {
  const models = useQuery(modelsQuery).data;
  return (
    <Modal
      open
      onOpenChange={props.close}
      title="Set up a model"
      description="The key is stored encrypted in the vault and never shown again."
    >
      {models && <ProviderKey {...props} models={models} />}
    </Modal>
  );
}

function ProviderKey({ models, close, then }: Props & { models: Models }) {
  const cache = useQueryClient();
  const keyed = models.providers.filter(({ key_name }) => key_name);
  const [name, setName] = useState(usualOf(models));
  const provider = keyed.find((one) => one.name === name) ?? keyed[0];
  const save = useMutation({
    mutationFn: async (value: string) => {
      await putSecret({ name: provider?.key_name ?? "", scope: "", value });
      await Promise.all(
        [modelsQuery, secretsQuery].map(({ queryKey }) => cache.invalidateQueries({ queryKey })),
      );
      await then?.();
    },
    meta: { isShownInPlace: true },
    onSuccess: () => {
      toast.ok(`Saved the key for ${provider?.name}.`);
      close();
    },
  });
  return (
    <KeyEntry
      save={save}
      close={close}
      before={
        <SelectField
          label="Provider"
          value={provider?.name ?? ""}
          options={keyed.map((one) => ({
            value: one.name,
            label: one.has_key ? `${one.name} (has a key)` : one.name,
          }))}
          onChange={setName}
        />
      }
      after={
        <p className="text-xs text-dim">
          Add your own models, such as Ollama, in{" "}
          <Link to="/settings/models" className="text-ink underline">
            Settings, Models
          </Link>
          .
        </p>
      }
    />
  );
}

/** The provider of the interviewer's model. */
function usualOf({ roles, providers }: Models): string {
  const [model = ""] = roles.find(({ role }) => role === "interviewer")?.chain ?? [];
  return providers.find(({ name }) => model.startsWith(`${name}:`))?.name ?? "anthropic";
}
