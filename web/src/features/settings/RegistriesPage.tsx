import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { refreshRegistry, registriesQuery, removeRegistry } from "@/api/registries";
import type { SkillRegistry } from "@/api/types";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { Confirm } from "@/ui/Confirm";
import { count } from "@/ui/count";
import { EmptyState } from "@/ui/EmptyState";
import { ErrorState } from "@/ui/ErrorState";
import { InlineText } from "@/ui/InlineText";
import { Panel } from "@/ui/Panel";
import { SkeletonRows } from "@/ui/Skeleton";
import { Ago } from "@/ui/Time";
import { toast } from "@/ui/toast";
import { RegistryForm } from "./RegistryForm";

/** The skill registries with their age and problems. */
export function RegistriesPage() {
  const registries = useQuery(registriesQuery);
  const [isAdding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<SkillRegistry | null>(null);
  const add = (
    <Button onClick={() => setAdding(true)}>
      <Plus size={13} aria-hidden /> Add a registry
    </Button>
  );
  return (
    <Panel title="Registries" actions={registries.data?.length !== 0 && add}>
      {registries.isPending && <SkeletonRows rows={3} label="Loading registries" />}
      {registries.isLoadingError && <ErrorState error={registries.error} retry={registries.refetch} />}
      {registries.data?.length === 0 && (
        <EmptyState
          title="No registries"
          sentence="A registry is a list of skills at an address you trust. Its skills can be installed from the library."
          action={add}
          example={
            <>
              for example <code className="mono">https://skills.example.com/index.json</code>
            </>
          }
        />
      )}
      {registries.data && registries.data.length > 0 && (
        <ul aria-label="Registries" className="divide-y divide-line">
          {registries.data.map((registry) => (
            <li key={registry.name}>
              <RegistryRow registry={registry} onRemove={() => setRemoving(registry)} />
            </li>
          ))}
        </ul>
      )}
      {isAdding && <RegistryForm close={() => setAdding(false)} />}
      {removing && <Remove registry={removing} close={() => setRemoving(null)} />}
    </Panel>
  );
}

function RegistryRow({ registry, onRemove }: { registry: SkillRegistry; onRemove: () => void }) {
  const queries = useQueryClient();
  const { name, url, skills, fetched_at: fetchedAt, problem } = registry;
  const refresh = useMutation({
    mutationFn: refreshRegistry,
    onSuccess: (fresh) => {
      if (!fresh.problem) toast.ok(`Fetched ${name}: ${count(fresh.skills, "skill")}.`);
    },
    onSettled: () => queries.invalidateQueries({ queryKey: registriesQuery.queryKey }),
  });
  return (
    <div className="flex flex-wrap items-start gap-x-3 gap-y-1 px-3 py-2">
      <div className="min-w-0 flex-1 basis-56">
        <p className="flex flex-wrap items-center gap-2">
          <span className="font-medium break-all">{name}</span>
          <span className="mono text-dim">
            {count(skills, "skill")}, {fetchedAt ? <>fetched {<Ago at={fetchedAt} />}</> : "never fetched"}
          </span>
          {problem && <Badge tone="wait">{fetchedAt ? "not up to date" : "not reached"}</Badge>}
        </p>
        <p className="mono break-all text-faint">{url}</p>
        {problem && (
          <p className="mt-0.5 break-words text-wait">
            <InlineText text={problem} />
          </p>
        )}
      </div>
      <div className="flex gap-1">
        <Button
          look="ghost"
          aria-label={`Refresh ${name}`}
          disabled={refresh.isPending}
          onClick={() => refresh.mutate(name)}
        >
          {refresh.isPending ? "Fetching…" : "Refresh"}
        </Button>
        <Button look="ghost" aria-label={`Remove ${name}`} onClick={onRemove}>
          Remove
        </Button>
      </div>
    </div>
  );
}

function Remove({ registry: { name }, close }: { registry: SkillRegistry; close: () => void }) {
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: removeRegistry,
    onSuccess: async () => {
      close();
      toast.ok(`Removed ${name}.`);
      await queries.invalidateQueries({ queryKey: registriesQuery.queryKey });
    },
  });
  return (
    <Confirm
      open
      onOpenChange={close}
      title={`Remove ${name}?`}
      description="Installed skills are kept, but get no updates until the registry is added again under this name."
      action="Remove registry"
      isBusy={remove.isPending}
      onConfirm={() => remove.mutate(name)}
    />
  );
}
