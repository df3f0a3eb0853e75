import { type FormEvent, useState } from "react";
import { ApiError } from "@/api/client";
import type { ModelProvider } from "@/api/types";
import { Field } from "@/ui/Field";
import { FormActions } from "@/ui/FormActions";
import { Modal } from "@/ui/Modal";
import { Refusal } from "@/ui/Refusal";
import { Segmented } from "@/ui/Segmented";
import { SelectField } from "@/ui/SelectField";
import { SERVER_TITLE, type ServerKind, saveProvider, useChange } from "./models";

const KINDS = [
  { value: "openai", label: "OpenAI" },
  { value: "anthropic", label: "Anthropic" },
] as const;
const OTHER = "";
const SERVERS = [
  { value: OTHER, label: "another server, or detect it" },
  ...Object.entries(SERVER_TITLE).map(([value, label]) => ({ value, label })),
];
const ADDRESS: Record<ServerKind, string> = {
  llama_cpp: "http://127.0.0.1:8080/v1",
  ollama: "http://127.0.0.1:11434/v1",
  vllm: "http://127.0.0.1:8000/v1",
  lm_studio: "http://127.0.0.1:1234/v1",
};
const FIELDS = ["name", "base_url", "key_name"];

type Props = {
  provider: ModelProvider | null;
  close: () => void;
  onSaved?: (saved: ModelProvider) => void;
};

/** Add a provider, or change the URL of a built-in one. */
export function ProviderForm({ provider, close, onSaved }: Props) {
  const [name, setName] = useState(provider?.name ?? "");
  const [kind, setKind] = useState<ModelProvider["kind"]>(provider?.kind ?? "openai");
  const [url, setUrl] = useState(provider?.base_url ?? "");
  const [key, setKey] = useState(provider?.key_name ?? "");
  const [chosen, setServer] = useState<ServerKind | null>(provider?.server ?? null);
  const [parallel, setParallel] = useState(provider?.parallel ? String(provider.parallel) : "");
  const server = kind === "openai" ? chosen : null;
  const save = useChange(saveProvider, {
    done: `Saved ${name.trim()}.`,
    after: (saved) => {
      close();
      onSaved?.(saved);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate({
      name: name.trim(),
      kind,
      base_url: url.trim() || null,
      key_name: key.trim() || null,
      server,
      parallel: parallel.trim() ? Number(parallel) : null,
    });
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
            <p className="mt-1 text-xs text-dim">Servers for local models use the OpenAI API.</p>
          </div>
        )}
        {!provider?.built_in && kind === "openai" && (
          <SelectField
            label="Server"
            value={server ?? OTHER}
            options={SERVERS}
            onChange={(value) => setServer((value || null) as ServerKind | null)}
          />
        )}
        <Field
          label="Base URL"
          {...text}
          required={!provider?.built_in && !server}
          maxLength={500}
          placeholder={kind === "openai" ? ADDRESS[server ?? "ollama"] : "http://127.0.0.1:8010"}
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
        <Field
          label="Concurrent requests"
          type="number"
          min={1}
          max={1000}
          mono
          placeholder={server ? "1" : "no limit"}
          hint="A local server answers a person faster if titles and memories wait."
          value={parallel}
          onChange={(event) => setParallel(event.target.value)}
        />
        <Refusal error={problem && FIELDS.includes(problem.field ?? "") ? null : save.error} />
        <FormActions close={close} isReady={name.trim() !== "" && !save.isPending}>
          Save
        </FormActions>
      </form>
    </Modal>
  );
}
