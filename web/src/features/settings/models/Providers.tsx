import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useId, useState } from "react";
import { secretsQuery } from "@/api/secrets";
import type { ModelProvider, Models } from "@/api/types";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { Panel } from "@/ui/Panel";
import { toast } from "@/ui/toast";
import { KeyForm } from "./KeyForm";
import { removeProvider, SERVER_TITLE, useChange } from "./models";
import { ProbeDialog } from "./ProbeDialog";
import { ProviderForm } from "./ProviderForm";
import { Suggestions } from "./Suggestions";
import { TestDialog } from "./TestDialog";

type What = "key" | "change" | "test" | "probe";

/** Only a custom endpoint can tell more about itself than its models' names. */
const canProbe = ({ kind, base_url }: ModelProvider): boolean => kind === "openai" && base_url !== null;

export function Providers({ models }: { models: Models }) {
  const [isAdding, setAdding] = useState(false);
  const [opened, setOpened] = useState<{ what: What; provider: ModelProvider } | null>(null);
  const close = () => setOpened(null);
  const probe = (saved: ModelProvider) => {
    if (canProbe(saved)) setOpened({ what: "probe", provider: saved });
  };
  const add = (
    <Button onClick={() => setAdding(true)}>
      <Plus size={13} aria-hidden /> Add a provider
    </Button>
  );
  return (
    <Panel title="Providers" actions={add}>
      <ul aria-label="Providers" className="divide-y divide-line">
        {models.providers.map((provider) => (
          <ProviderRow
            key={provider.name}
            provider={provider}
            onOpen={(what) => setOpened({ what, provider })}
          />
        ))}
      </ul>
      {isAdding && <ProviderForm provider={null} close={() => setAdding(false)} onSaved={probe} />}
      {opened?.what === "change" && <ProviderForm provider={opened.provider} close={close} onSaved={probe} />}
      {opened?.what === "probe" && <ProbeDialog provider={opened.provider} close={close} />}
      {opened?.what === "key" && <KeyForm provider={opened.provider} close={close} />}
      {opened?.what === "test" && <Test provider={opened.provider} models={models} close={close} />}
    </Panel>
  );
}

type TestProps = { provider: ModelProvider; models: Models; close: () => void };

function Test({ provider, models, close }: TestProps) {
  const suggestions = useId();
  const model = modelOf(provider, models);
  return (
    <>
      <Suggestions id={suggestions} models={models.known.filter((name) => isOf(provider, name))} />
      <TestDialog
        model={model || `${provider.name}:`}
        isCertain={Boolean(model)}
        suggestions={suggestions}
        close={close}
      />
    </>
  );
}

const isOf = (provider: ModelProvider, model: string): boolean => model.startsWith(`${provider.name}:`);

/** The model to test a provider with: one used by a role, otherwise one with a custom price. */
export function modelOf(provider: ModelProvider, models: Models): string {
  const used = models.roles.flatMap((role) => role.chain).map((name) => withProvider(name, models));
  return [...used, ...Object.keys(models.prices)].find((name) => isOf(provider, name)) ?? "";
}

/** A model without a known provider belongs to Anthropic. */
function withProvider(model: string, { providers }: Models): string {
  return providers.some((provider) => isOf(provider, model)) ? model : `anthropic:${model}`;
}

type RowProps = { provider: ModelProvider; onOpen: (what: What) => void };

function ProviderRow({ provider, onOpen }: RowProps) {
  const { name, kind, base_url, key_name, built_in } = provider;
  const secret = useQuery(secretsQuery).data?.find((found) => found.name === key_name);
  const isOutside = secret?.source === "environment";
  const done = built_in ? `Reset ${name}.` : `Removed ${name}.`;
  const remove = useChange(removeProvider, { done });
  const isChanged = !built_in || base_url !== null;
  return (
    <li
      aria-label={name}
      className="grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-3 px-3 py-1.5 sm:grid-cols-[minmax(0,1fr)_160px_auto]"
    >
      <div className="min-w-0 py-1">
        <p>
          <span className="font-medium">{name}</span>
          {!built_in && (
            <span className="text-xs text-dim">
              {" "}
              {provider.server ? SERVER_TITLE[provider.server] : `${kind} API`}
            </span>
          )}
        </p>
        {base_url && <p className="mono break-all text-dim">{base_url}</p>}
      </div>
      <div>
        <KeyState provider={provider} isOutside={isOutside} />
      </div>
      <div className="-mr-2 flex flex-wrap justify-end max-sm:col-span-2 sm:w-[272px]">
        {isChanged && (
          <Button
            look="ghost"
            aria-label={`${built_in ? "Reset" : "Remove"} ${name}`}
            disabled={remove.isPending}
            onClick={() => remove.mutate(name, { onError: (error) => toast.error(error) })}
          >
            {built_in ? "Reset" : "Remove"}
          </Button>
        )}
        {key_name && !isOutside && (
          <Button look="ghost" aria-label={`Set key of ${name}`} onClick={() => onOpen("key")}>
            Set key
          </Button>
        )}
        <Button
          look="ghost"
          aria-label={`Test ${name}`}
          onClick={() => onOpen(canProbe(provider) ? "probe" : "test")}
        >
          Test
        </Button>
        <Button look="ghost" aria-label={`Change ${name}`} onClick={() => onOpen("change")}>
          Change
        </Button>
      </div>
    </li>
  );
}

function KeyState({ provider, isOutside }: { provider: ModelProvider; isOutside: boolean }) {
  if (!provider.key_name) return <Badge tone="idle">needs no key</Badge>;
  if (!provider.has_key) return <Badge tone="bad">no key</Badge>;
  return (
    <span className="flex items-center gap-2">
      <Badge tone="ok">key set</Badge>
      <span className="mono text-dim max-sm:hidden">
        {isOutside ? "environment" : `••••${provider.last_four}`}
      </span>
    </span>
  );
}
