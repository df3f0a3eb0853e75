import { useMutation, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError } from "@/api/client";
import { useMe } from "@/api/session";
import { grantSkill, refreshSkill, revokeSkill, setSkillTier, skillQuery } from "@/api/skills";
import type { SkillAsk, SkillDetail } from "@/api/types";
import { Badge } from "@/ui/Badge";
import { Button, buttonClass } from "@/ui/Button";
import { EmptyState } from "@/ui/EmptyState";
import { Panel } from "@/ui/Panel";
import { Refusal } from "@/ui/Refusal";
import { Ago } from "@/ui/Time";
import { toast } from "@/ui/toast";
import { limitWords } from "../words";
import { AskList } from "./AskList";
import { type Choice, grantable, wishesOf, withAsk } from "./choice";
import { choiceOf, isChanged, isEdited, notGranted, standingOf } from "./state";
import { TierField } from "./TierField";

const route = getRouteApi("/shell/skills/$name/permissions");

/** The grants of a skill and its trust tier. */
export function PermissionsTab() {
  const { name } = route.useParams();
  const { data: skill } = useSuspenseQuery(skillQuery(name));
  const mayGrant = useMe()?.scopes.includes("admin") ?? false;
  return (
    <div className="mx-auto max-w-[860px] space-y-3 p-4 max-sm:p-2">
      {!mayGrant && (
        <p role="note" className="rounded-md border border-line px-3 py-2 text-dim">
          Granting and changing the tier requires the scope <span className="mono">admin</span>, which you do
          not have. Revoking does not require it.
        </p>
      )}
      {/* A changed folder is a different skill: discard choices made for the old one. */}
      <Grants key={skill.folder_hash} skill={skill} mayGrant={mayGrant} />
      <Tier skill={skill} mayGrant={mayGrant} />
    </div>
  );
}

type Props = { skill: SkillDetail; mayGrant: boolean };

function Grants({ skill, mayGrant }: Props) {
  const cache = useQueryClient();
  const { name, folder_hash, asks } = skill;
  const [draft, setDraft] = useState<Choice | null>(null);
  const choice = draft ?? choiceOf(skill);
  const grant = useMutation({
    mutationFn: grantSkill,
    meta: { isShownInPlace: true },
    onSuccess: (now) => {
      cache.setQueryData(skillQuery(name).queryKey, now);
      refreshSkill(cache, { skill: name, part: "grants" });
      setDraft(null);
      toast.ok(`Saved the permissions of ${name}.`);
    },
    onError: (error) => {
      if (error instanceof ApiError && error.status === 409) {
        toast.error({
          message: `${name} was edited while you were reviewing it. Nothing was granted.`,
          hint: "Review the updated requests.",
        });
        refreshSkill(cache, { skill: name, part: "skill" });
      }
    },
  });
  if (asks.length === 0) {
    return (
      <Panel title="Permissions">
        <EmptyState
          title="No capabilities requested"
          sentence="The skill can compute and write to its log, but has no access to files, network, secrets or programs."
        />
      </Panel>
    );
  }
  const wishes = wishesOf(asks, choice);
  const most = grantable(asks).length;
  const hasChanges = isChanged(skill, choice);
  return (
    <Panel title="Permissions" count={asks.length}>
      {skill.state === "review" && <ReviewNote skill={skill} />}
      <AskList
        asks={asks}
        choice={choice}
        onChange={setDraft}
        disabled={!mayGrant || grant.isPending}
        renderState={(ask) => (
          <GrantState
            skill={skill}
            ask={ask}
            onRevoked={() => setDraft((before) => before && withAsk(before, ask, false))}
          />
        )}
      />
      {most > 0 && (
        <footer className="sticky bottom-0 space-y-2 rounded-b-lg border-t border-line bg-surface p-3">
          <Refusal error={grant.error} />
          <div className="flex flex-wrap items-center gap-2">
            <p aria-live="polite" className="mr-auto text-dim">
              {hasChanges
                ? `${wishes.length} of ${most} would be granted.`
                : `${most - notGranted(skill)} of ${most} granted.`}
            </p>
            {draft && (
              <Button look="ghost" onClick={() => setDraft(null)}>
                Undo
              </Button>
            )}
            <Button
              look="primary"
              disabled={!mayGrant || !hasChanges || grant.isPending}
              onClick={() => grant.mutate({ name, grants: wishes, folder_hash })}
            >
              {wishes.length === 0 ? "Revoke all" : `Grant ${wishes.length}`}
            </Button>
          </div>
        </footer>
      )}
    </Panel>
  );
}

function ReviewNote({ skill }: { skill: SkillDetail }) {
  return (
    <div role="note" className="wash-wait flex flex-wrap items-center gap-x-3 gap-y-1 border-b px-3 py-2">
      <p className="min-w-0 flex-1">
        {isEdited(skill)
          ? "The skill was edited since the last grant, so its grants no longer apply. Review and grant it again."
          : (skill.problem ?? "The skill requests capabilities that are not granted yet.")}
      </p>
      <Link to="/skills/$name/source" params={{ name: skill.name }} className={buttonClass()}>
        View source
      </Link>
    </div>
  );
}

type GrantStateProps = { skill: SkillDetail; ask: SkillAsk; onRevoked: () => void };

/** Who granted it and when, or that the grant no longer applies. */
function GrantState({ skill, ask: { capability }, onRevoked }: GrantStateProps) {
  const cache = useQueryClient();
  const { name } = skill;
  const revoke = useMutation({
    mutationFn: revokeSkill,
    onSuccess: (now) => {
      cache.setQueryData(skillQuery(name).queryKey, now);
      refreshSkill(cache, { skill: name, part: "grants" });
      onRevoked();
      toast.ok(`Revoked ${capability}, effective from the next call.`);
    },
  });
  const { grant, counts } = standingOf(skill, capability);
  if (grant === null) return <Badge tone="idle">not granted</Badge>;
  return (
    <>
      <span className="text-xs text-dim">
        by {grant.granted_by}, <Ago at={grant.granted_at} />
      </span>
      <Badge tone={counts ? "ok" : "wait"}>{counts ? "granted" : "edited since"}</Badge>
      <Button
        look="danger"
        aria-label={`Revoke ${capability}`}
        disabled={revoke.isPending}
        onClick={() => revoke.mutate({ name, capability })}
      >
        Revoke
      </Button>
    </>
  );
}

function Tier({ skill, mayGrant }: Props) {
  const cache = useQueryClient();
  const { name, tier, limits } = skill;
  const change = useMutation({
    mutationFn: setSkillTier,
    onSuccess: (now) => {
      cache.setQueryData(skillQuery(name).queryKey, now);
      refreshSkill(cache, { skill: name, part: "skill" });
      const undo = () => change.mutate({ name, tier });
      toast.ok(`Set ${name} to ${now.tier}.`, { label: "Undo", run: undo });
    },
  });
  return (
    <Panel title="Trust tier">
      <div className="space-y-2 p-3">
        <TierField
          value={change.variables && change.isPending ? change.variables.tier : tier}
          disabled={!mayGrant || change.isPending}
          onChange={(chosen) => change.mutate({ name, tier: chosen })}
        />
        <p className="text-xs text-dim">A run can use {limitWords(limits)}. Only you can set the tier.</p>
      </div>
    </Panel>
  );
}
