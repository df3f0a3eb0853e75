import { type FormEvent, useState } from "react";
import { ApiError } from "@/api/client";
import type { ModelProvider } from "@/api/types";
import { Field } from "@/ui/Field";
import { FormActions } from "@/ui/FormActions";
import { Modal } from "@/ui/Modal";
import { Refusal } from "@/ui/Refusal";
import { Segmented } from "@/ui/Segmented";
import { saveProvider, useChange } from "./models";

const KINDS = [
  { value: "openai", label: "OpenAI" },
  { value: "anthropic", label: "Anthropic" },
] as const;
const FIELDS = ["name", "base_url", "key_name"];

/** Add a provider, or change the URL of a built-in one. */
export function ProviderForm({ provider, close }: { provider: ModelProvider | null; close: () => void }) {
  const [name, setName] = useState(provider?.name ?? "");
  const [kind, setKind] = useState<ModelProvider["kind"]>(provider?.kind ?? "openai");
  const [url, setUrl] = useState(provider?.base_url ?? "");
  const [key, setKey] = useState(provider?.key_name ?? "");
  const save = useChange(saveProvider, { done: `Saved ${name.trim()}.`, after: close });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate({ name: name.trim(), kind, base_url: url.trim() || null, key_name: key.trim() || null });
  };
  const problem = save.error instanceof ApiError ? save.error : null;
  const errorAt = (field: string) => (problem?.field === field ? problem.message : null);
  const text = { mono: true, autoComplete: "off", spellCheck: false };
  return (
    <Modal
      open
      onOpenChange={close}
      title={provider ? `Change ${provider.name}` : "Add a provider"}
      description="A model API: a local server, a gateway or a vendor."
    >
      <form onSubmit={submit} className="mt-4 space-y-4">
        {!provider && (
          <Field
            label="Name"
            {...text}
            required
            maxLength={32}
            placeholder="local"
            hint="The prefix of model names, as in local:qwen3:8b."
            value={name}
            onChange={(event) => setName(event.target.value)}
            error={errorAt("name")}
          />
        )}
        {!provider?.built_in && (
          <div>
            <p className="mb-1 text-xs font-medium text-dim">API</p>
            <Segmented label="API" value={kind} options={KINDS} onChange={setKind} />
            <p className="mt-1 text-xs text-dim">Ollama, vLLM and llama.cpp use the OpenAI API.</p>
          </div>
        )}
        <Field
          label="Base URL"
          {...text}
          required={!provider?.built_in}
          maxLength={500}
          placeholder={kind === "openai" ? "http://127.0.0.1:11434/v1" : "http://127.0.0.1:8010"}
          hint={provider?.built_in ? "Leave empty for the default." : undefined}
          value={url}
          onChange={(event) => setUrl(event.target.value)}
          error={errorAt("base_url")}
        />
        <Field
          label="Secret that holds the key"
          {...text}
          maxLength={128}
          placeholder="LOCAL_KEY"
          hint="Name of the secret. Leave empty if no key is needed."
          value={key}
          onChange={(event) => setKey(event.target.value)}
          error={errorAt("key_name")}
        />
        <Refusal error={problem && FIELDS.includes(problem.field ?? "") ? null : save.error} />
        <FormActions close={close} isReady={name.trim() !== "" && !save.isPending}>
          Save
        </FormActions>
      </form>
    </Modal>
  );
}
