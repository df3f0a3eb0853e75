import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import type { ApiKey } from "@/api/types";
import { Button } from "@/ui/Button";
import { Confirm } from "@/ui/Confirm";
import { EmptyState } from "@/ui/EmptyState";
import { ErrorState } from "@/ui/ErrorState";
import { Panel } from "@/ui/Panel";
import { SkeletonRows } from "@/ui/Skeleton";
import { Cell, type Column, Row, Table } from "@/ui/Table";
import { Ago } from "@/ui/Time";
import { toast } from "@/ui/toast";
import { CreateKey } from "./CreateKey";
import { keysQuery, revokeKey } from "./keys";

export function KeysPage() {
  const keys = useQuery(keysQuery);
  const [isCreating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState<ApiKey | null>(null);
  const create = (
    <Button onClick={() => setCreating(true)}>
      <Plus size={13} aria-hidden /> Create key
    </Button>
  );
  return (
    <Panel title="API keys" actions={keys.data?.length !== 0 && create}>
      {keys.isPending && <SkeletonRows rows={3} label="Loading keys" />}
      {keys.isLoadingError && <ErrorState error={keys.error} retry={keys.refetch} />}
      {keys.data?.length === 0 && (
        <EmptyState
          title="No keys"
          sentence="A key lets a script or another machine use Forge on your behalf."
          action={create}
          example={
            <>
              used as <code className="mono">Authorization: Bearer forge_…</code>
            </>
          }
        />
      )}
      {keys.data && keys.data.length > 0 && <KeyTable keys={keys.data} onRevoke={setRevoking} />}
      <CreateKey open={isCreating} onOpenChange={setCreating} />
      <Revoke apiKey={revoking} close={() => setRevoking(null)} />
    </Panel>
  );
}

const COLUMNS: readonly Column[] = [
  { name: "Name" },
  { name: "Key", from: "sm" },
  { name: "Permissions" },
  { name: "Created", from: "md" },
  { name: "Last used", from: "md" },
  { name: "Actions", isUnnamed: true },
];

function KeyTable({ keys, onRevoke }: { keys: readonly ApiKey[]; onRevoke: (key: ApiKey) => void }) {
  return (
    <Table label="API keys" columns={COLUMNS}>
      {keys.map((key) => (
        <Row key={key.id} className={key.revoked_at ? "text-dim" : ""}>
          <Cell
            title={key.name}
            className="font-medium max-sm:py-1.5 max-sm:wrap-anywhere max-sm:whitespace-normal sm:max-w-[200px] sm:truncate"
          >
            {key.name}
          </Cell>
          <Cell from="sm" className="mono text-dim">
            {key.hint}
          </Cell>
          <Cell>{key.scopes.join(", ")}</Cell>
          <Cell from="md" className="mono text-dim">
            <Ago at={key.created_at} />
          </Cell>
          <Cell from="md" className="mono text-dim">
            {key.last_used_at ? <Ago at={key.last_used_at} /> : "never"}
          </Cell>
          <Cell className="text-right">
            {key.revoked_at ? (
              <span className="text-xs">revoked</span>
            ) : (
              <Button look="ghost" aria-label={`Revoke ${key.name}`} onClick={() => onRevoke(key)}>
                Revoke
              </Button>
            )}
          </Cell>
        </Row>
      ))}
    </Table>
  );
}

function Revoke({ apiKey, close }: { apiKey: ApiKey | null; close: () => void }) {
  const queries = useQueryClient();
  const revoke = useMutation({
    mutationFn: revokeKey,
    onSuccess: async (_, key) => {
      close();
      toast.ok(`Revoked ${key.name}.`);
      await queries.invalidateQueries({ queryKey: keysQuery.queryKey });
    },
  });
  if (!apiKey) return null;
  return (
    <Confirm
      open
      onOpenChange={close}
      title={`Revoke “${apiKey.name}”?`}
      description="Anything using this key stops working immediately. This cannot be undone."
      action="Revoke key"
      word={apiKey.name}
      isBusy={revoke.isPending}
      onConfirm={() => revoke.mutate(apiKey)}
    />
  );
}
