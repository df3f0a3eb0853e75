/** Members, invitations and what the owner shares with the members. */
import { queryOptions } from "@tanstack/react-query";
import { http, unwrap } from "@/api/client";
import type { Invitation, Member, ModelShare } from "@/api/types";

export const membersQuery = queryOptions<Member[]>({
  queryKey: ["members"],
  queryFn: ({ signal }) => unwrap(http.GET("/api/v1/members", { signal })),
});

export const invitationsQuery = queryOptions<Invitation[]>({
  queryKey: ["invitations"],
  queryFn: ({ signal }) => unwrap(http.GET("/api/v1/invitations", { signal })),
});

export const sharesQuery = queryOptions<ModelShare[]>({
  queryKey: ["model-shares"],
  queryFn: ({ signal }) => unwrap(http.GET("/api/v1/models/shares", { signal })),
});

export type NewInvitation = { github_login: string | null; organizations: string[] };

/** `url` is the link for the invited person; the server shows it only once. */
export function invite(body: NewInvitation): Promise<{ url: string; invitation: Invitation }> {
  return unwrap(http.POST("/api/v1/invitations", { body }));
}

export function revokeInvitation({ id }: Invitation): Promise<Invitation> {
  return unwrap(
    http.DELETE("/api/v1/invitations/{invitation_id}", { params: { path: { invitation_id: id } } }),
  );
}

export function removeMember({ account }: Member): Promise<Member> {
  return unwrap(
    http.DELETE("/api/v1/members/{account_id}", { params: { path: { account_id: account.id } } }),
  );
}

export function share({ name, usd }: { name: string; usd: number }): Promise<ModelShare> {
  return unwrap(
    http.PUT("/api/v1/models/shares/{name}", { params: { path: { name } }, body: { day_usd: usd } }),
  );
}

export function unshare(name: string): Promise<ModelShare> {
  return unwrap(http.DELETE("/api/v1/models/shares/{name}", { params: { path: { name } } }));
}

/** The state of an invitation, in a word. */
export function stateOf(invitation: Invitation): "open" | "used" | "revoked" | "expired" {
  if (invitation.revoked_at) return "revoked";
  if (invitation.github_login && invitation.used_at) return "used";
  return new Date(invitation.expires_at) <= new Date() ? "expired" : "open";
}
