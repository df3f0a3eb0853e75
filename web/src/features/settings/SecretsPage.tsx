import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { removeSecret, secretsQuery } from "@/api/secrets";
import type { Secret } from "@/api/types";
import { Button } from "@/ui/Button";
import { Confirm } from "@/ui/Confirm";
import { EmptyState } from "@/ui/EmptyState";
import { ErrorState } from "@/ui/ErrorState";
import { Panel } from "@/ui/Panel";
import { SkeletonRows } from "@/ui/Skeleton";
import { Cell, type Column, Row, Table } from "@/ui/Table";
import { Ago } from "@/ui/Time";
import { toast } from "@/ui/toast";
import { SecretForm } from "./SecretForm";

export function SecretsPage() {
  const secrets = useQuery(secretsQuery);
  /** The secret to replace, or "new" to add one. */
  const [editing, setEditing] = useState<Secret | "new" | null>(null);
  const [removing, setRemoving] = useState<Secret | null>(null);
  const add = (
    <Button onClick={() => setEditing("new")}>
      <Plus size={13} aria-hidden /> Add a secret
    </Button>
  );
  return (
    <Panel title="Secrets" actions={secrets.data?.length !== 0 && add}>
      {secrets.isPending && <SkeletonRows rows={3} label="Loading secrets" />}
      {secrets.isLoadingError && <ErrorState error={secrets.error} retry={secrets.refetch} />}
      {secrets.data?.length === 0 && (
        <EmptyState
          title="No secrets"
          sentence="Keys and passwords for runs are stored encrypted and never shown again."
          action={add}
          example={
            <>
              for example <code className="mono">ANTHROPIC_API_KEY</code>
            </>
          }
        />
      )}
      {secrets.data && secrets.data.length > 0 && (
        <SecretTable secrets={secrets.data} onReplace={setEditing} onRemove={setRemoving} />
      )}
      {editing && <SecretForm replaces={editing === "new" ? null : editing} close={() => setEditing(null)} />}
      {removing && <Remove secret={removing} close={() => setRemoving(null)} />}
    </Panel>
  );
}

const COLUMNS: readonly Column[] = [
  { name: "Name" },
  { name: "Value", from: "sm" },
  { name: "Scope", from: "md" },
  { name: "Changed", from: "md" },
  { name: "Actions", isUnnamed: true },
];

type TableProps = {
  secrets: readonly Secret[];
  onReplace: (secret: Secret) => void;
  onRemove: (secret: Secret) => void;
};

function SecretTable({ secrets, onReplace, onRemove }: TableProps) {
  return (
    <Table label="Secrets" columns={COLUMNS}>
      {secrets.map((secret) => (
        <Row key={`${secret.scope}/${secret.name}`}>
          <Cell
            title={secret.name}
            className="mono font-medium max-sm:py-1.5 max-sm:wrap-anywhere max-sm:whitespace-normal sm:max-w-[260px] sm:truncate"
          >
            {secret.name}
          </Cell>
          <Cell from="sm" className="mono text-dim">
            ••••{secret.last_four}
          </Cell>
          <Cell from="md" className="text-dim">
            {secret.scope || "all"}
          </Cell>
          <Cell from="md" className="mono text-dim">
            {secret.updated_at ? <Ago at={secret.updated_at} /> : "from the environment"}
          </Cell>
          <Cell className="text-right">
            {secret.source === "vault" && (
              <>
                <Button look="ghost" aria-label={`Replace ${secret.name}`} onClick={() => onReplace(secret)}>
                  Replace
                </Button>
                <Button look="ghost" aria-label={`Remove ${secret.name}`} onClick={() => onRemove(secret)}>
                  Remove
                </Button>
              </>
            )}
          </Cell>
        </Row>
      ))}
    </Table>
  );
}

function Remove({ secret, close }: { secret: Secret; close: () => void }) {
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: removeSecret,
    onSuccess: async () => {
      close();
      toast.ok(`Removed ${secret.name}.`);
      await queries.invalidateQueries({ queryKey: secretsQuery.queryKey });
    },
  });
  return (
    <Confirm
      open
      onOpenChange={close}
      title={`Remove ${secret.name}?`}
      description="Runs that need it fail until it is added again."
      action="Remove secret"
      word={secret.name}
      isBusy={remove.isPending}
      onConfirm={() => remove.mutate(secret)}
    />
  );
}
