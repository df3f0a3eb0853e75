import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { modelsQuery } from "@/api/models";
import type { ModelShare } from "@/api/types";
import { Button } from "@/ui/Button";
import { Field } from "@/ui/Field";
import { FormActions } from "@/ui/FormActions";
import { Modal } from "@/ui/Modal";
import { formatMicros } from "@/ui/money";
import { Panel } from "@/ui/Panel";
import { Refusal } from "@/ui/Refusal";
import { SelectField } from "@/ui/SelectField";
import { toast } from "@/ui/toast";
import { share, sharesQuery, unshare } from "./team";

/** Everything that the accounts of this server have in common. */
export function SharedPanel({ isOwner }: { isOwner: boolean }) {
  const shares = useQuery(sharesQuery);
  const [isSharing, setSharing] = useState(false);
  const action = isOwner && <Button onClick={() => setSharing(true)}>Share a provider</Button>;
  return (
    <Panel title="Shared with all members" actions={action}>
      <ul aria-label="Shared" className="divide-y divide-line">
        <li className="px-3 py-2">
          <p className="font-medium">Skill library</p>
          <p className="text-xs text-dim">
            Everyone can use it and add skills. Only its creator and the owner can change a skill. Each member
            grants permissions separately.
          </p>
        </li>
        {shares.data?.map((one) => (
          <SharedProvider key={one.provider} share={one} isOwner={isOwner} />
        ))}
      </ul>
      {shares.data?.length === 0 && (
        <p className="border-t border-line px-3 py-2 text-xs text-dim">
          No model provider is shared: each member needs a key of their own.
        </p>
      )}
      {isSharing && <ShareDialog close={() => setSharing(false)} />}
    </Panel>
  );
}

function SharedProvider({
  share: { provider, day_micros },
  isOwner,
}: {
  share: ModelShare;
  isOwner: boolean;
}) {
  const queries = useQueryClient();
  const stop = useMutation({
    mutationFn: unshare,
    onSuccess: async () => {
      toast.ok(`${provider} is no longer shared.`);
      await queries.invalidateQueries({ queryKey: sharesQuery.queryKey });
    },
  });
  return (
    <li className="flex items-center gap-3 px-3 py-2">
      <div className="min-w-0 flex-1">
        <p className="font-medium">Models of {provider}</p>
        <p className="text-xs text-dim">
          At the owner’s expense, up to {formatMicros(day_micros)} per member and day.
        </p>
      </div>
      {isOwner && (
        <Button look="ghost" disabled={stop.isPending} onClick={() => stop.mutate(provider)}>
          Stop sharing
        </Button>
      )}
    </li>
  );
}

function ShareDialog({ close }: { close: () => void }) {
  const queries = useQueryClient();
  const providers = useQuery(modelsQuery).data?.providers ?? [];
  const [name, setName] = useState("");
  const [usd, setUsd] = useState("5");
  const save = useMutation({
    mutationFn: share,
    meta: { isShownInPlace: true },
    onSuccess: async (saved) => {
      close();
      toast.ok(`Shared ${saved.provider}.`);
      await queries.invalidateQueries({ queryKey: sharesQuery.queryKey });
    },
  });
  const chosen = name || providers[0]?.name || "";
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate({ name: chosen, usd: Number(usd) });
  };
  return (
    <Modal
      open
      onOpenChange={close}
      title="Share a provider"
      description="Members use your key and your prices, each within a budget per day."
    >
      <form onSubmit={submit} className="mt-4 space-y-4">
        <SelectField
          label="Provider"
          value={chosen}
          options={providers.map((provider) => ({ value: provider.name, label: provider.name }))}
          onChange={setName}
        />
        <Field
          label="Dollars per member and day"
          type="number"
          min={0}
          max={1_000_000}
          step="any"
          required
          mono
          value={usd}
          onChange={(event) => setUsd(event.target.value)}
        />
        <Refusal error={save.error} />
        <FormActions close={close} isReady={chosen !== "" && usd.trim() !== "" && !save.isPending}>
          Share
        </FormActions>
      </form>
    </Modal>
  );
}
