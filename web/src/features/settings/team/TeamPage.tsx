import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { UserPlus } from "lucide-react";
import { useState } from "react";
import { useMe } from "@/api/session";
import type { Invitation, Member } from "@/api/types";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { Confirm } from "@/ui/Confirm";
import { ErrorState } from "@/ui/ErrorState";
import { Panel } from "@/ui/Panel";
import { SkeletonRows } from "@/ui/Skeleton";
import { Cell, type Column, Row, Table } from "@/ui/Table";
import { Ago } from "@/ui/Time";
import { toast } from "@/ui/toast";
import { InviteDialog } from "./InviteDialog";
import { SharedPanel } from "./SharedPanel";
import { invitationsQuery, membersQuery, removeMember, revokeInvitation, stateOf } from "./team";

export function TeamPage() {
  const isOwner = useMe()?.account.role === "owner";
  return (
    <>
      {isOwner && <Members />}
      {isOwner && <Invitations />}
      <SharedPanel isOwner={isOwner} />
    </>
  );
}

const MEMBER_COLUMNS: readonly Column[] = [
  { name: "Name" },
  { name: "GitHub", from: "sm" },
  { name: "Role" },
  { name: "Since", from: "md" },
  { name: "Actions", isUnnamed: true },
];

function Members() {
  const members = useQuery(membersQuery);
  const [isInviting, setInviting] = useState(false);
  const [removing, setRemoving] = useState<Member | null>(null);
  const invite = (
    <Button onClick={() => setInviting(true)}>
      <UserPlus size={13} aria-hidden /> Invite
    </Button>
  );
  return (
    <Panel title="Members" actions={invite}>
      {members.isPending && <SkeletonRows rows={2} label="Loading members" />}
      {members.isLoadingError && <ErrorState error={members.error} retry={members.refetch} />}
      {members.data && (
        <Table label="Members" columns={MEMBER_COLUMNS}>
          {members.data.map((member) => (
            <Row key={member.account.id} className={member.removed_at ? "text-dim" : ""}>
              <Cell className="font-medium">{member.account.name}</Cell>
              <Cell from="sm" className="text-dim">
                {member.github_login ?? "–"}
              </Cell>
              <Cell>{member.removed_at ? "removed" : member.account.role}</Cell>
              <Cell from="md" className="mono text-dim">
                <Ago at={member.account.created_at} />
              </Cell>
              <Cell className="text-right">
                {member.account.role !== "owner" && !member.removed_at && (
                  <Button
                    look="ghost"
                    aria-label={`Remove ${member.account.name}`}
                    onClick={() => setRemoving(member)}
                  >
                    Remove
                  </Button>
                )}
              </Cell>
            </Row>
          ))}
        </Table>
      )}
      <InviteDialog open={isInviting} onOpenChange={setInviting} />
      {removing && <Remove member={removing} close={() => setRemoving(null)} />}
    </Panel>
  );
}

function Remove({ member, close }: { member: Member; close: () => void }) {
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: removeMember,
    onSuccess: async () => {
      close();
      toast.ok(`Removed ${member.account.name}.`);
      await queries.invalidateQueries({ queryKey: membersQuery.queryKey });
    },
  });
  return (
    <Confirm
      open
      onOpenChange={close}
      title={`Remove “${member.account.name}”?`}
      description="Sessions and keys end at once, runs are cancelled and triggers switched off. The data is kept and comes back with a new invitation."
      action="Remove"
      isBusy={remove.isPending}
      onConfirm={() => remove.mutate(member)}
    />
  );
}

const TONE = { open: "run", used: "ok", revoked: "idle", expired: "idle" } as const;

function Invitations() {
  const queries = useQueryClient();
  const invitations = useQuery(invitationsQuery);
  const revoke = useMutation({
    mutationFn: revokeInvitation,
    onSuccess: async () => {
      toast.ok("Revoked the invitation.");
      await queries.invalidateQueries({ queryKey: invitationsQuery.queryKey });
    },
  });
  if (!invitations.data?.length) return null;
  return (
    <Panel title="Invitations">
      <ul aria-label="Invitations" className="divide-y divide-line">
        {invitations.data.map((invitation) => (
          <li key={invitation.id} className="flex items-center gap-3 px-3 py-2">
            <span className="min-w-0 flex-1 truncate">{nameOf(invitation)}</span>
            <Badge tone={TONE[stateOf(invitation)]}>{stateOf(invitation)}</Badge>
            {stateOf(invitation) === "open" && (
              <Button
                look="ghost"
                aria-label={`Revoke the invitation for ${nameOf(invitation)}`}
                onClick={() => revoke.mutate(invitation)}
              >
                Revoke
              </Button>
            )}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function nameOf({ github_login, organizations }: Invitation): string {
  return github_login ?? `members of ${organizations.join(", ")}`;
}
