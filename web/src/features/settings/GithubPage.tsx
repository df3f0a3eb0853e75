import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { connectGithub, deleteGithubToken, githubQuery, saveGithubToken } from "@/api/github";
import type { GithubConnection } from "@/api/types";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { Confirm } from "@/ui/Confirm";
import { ErrorState } from "@/ui/ErrorState";
import { Field } from "@/ui/Field";
import { Fact, Facts } from "@/ui/KeyValues";
import { Panel } from "@/ui/Panel";
import { Refusal } from "@/ui/Refusal";
import { SkeletonRows } from "@/ui/Skeleton";
import { toast } from "@/ui/toast";

const KIND = { oauth: "OAuth sign-in", personal: "personal access token" } as const;

export function GithubPage() {
  const github = useQuery(githubQuery);
  return (
    <>
      {github.isPending && (
        <Panel title="GitHub">
          <SkeletonRows rows={4} label="Checking the connection to GitHub" />
        </Panel>
      )}
      {github.isLoadingError && <ErrorState error={github.error} retry={github.refetch} />}
      {github.data?.token_kind && <Connected connection={github.data} kind={github.data.token_kind} />}
      {github.data && <Connect connection={github.data} />}
    </>
  );
}

function Connected({ connection, kind }: { connection: GithubConnection; kind: "oauth" | "personal" }) {
  return (
    <Panel title="GitHub" actions={<Disconnect />}>
      <div className="space-y-3 p-3">
        <Facts>
          <Fact name="User">{connection.identity?.login}</Fact>
          <Fact name="Server">{connection.configuration.url}</Fact>
          <Fact name="Connected with">{KIND[kind]}</Fact>
        </Facts>
        {connection.problem && (
          <Refusal error={{ message: connection.problem, hint: "Connect again below." }} />
        )}
        {connection.grants && connection.grants.length > 0 && (
          <ul aria-label="What GitHub allows" className="divide-y divide-line">
            {connection.grants.map((grant) => (
              <li key={grant.ability} className="flex items-center justify-between gap-3 py-1.5">
                {grant.text}
                {grant.granted === null ? (
                  <Badge tone="idle">unknown</Badge>
                ) : (
                  <Badge tone={grant.granted ? "ok" : "wait"}>
                    {grant.granted ? "allowed" : "not allowed"}
                  </Badge>
                )}
              </li>
            ))}
          </ul>
        )}
      </div>
    </Panel>
  );
}

function Connect({ connection }: { connection: GithubConnection }) {
  const { configuration, token_kind } = connection;
  const start = useMutation({ mutationFn: connectGithub, meta: { isShownInPlace: true } });
  return (
    <Panel title={token_kind ? "Connect again" : "Connect to GitHub"}>
      <div className="space-y-4 p-3">
        {configuration.can_sign_in && (
          <>
            <Button
              look="primary"
              disabled={start.isPending || start.isSuccess}
              onClick={() => start.mutate()}
            >
              Connect with GitHub
            </Button>
            <Refusal error={start.error} />
          </>
        )}
        <TokenForm url={configuration.url} />
      </div>
    </Panel>
  );
}

function TokenForm({ url }: { url: string }) {
  const queries = useQueryClient();
  const [token, setToken] = useState("");
  const save = useMutation({
    mutationFn: saveGithubToken,
    meta: { isShownInPlace: true },
    onSuccess: (connection) => {
      setToken("");
      toast.ok("Connected to GitHub.");
      queries.setQueryData(githubQuery.queryKey, connection);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate(token.trim());
  };
  return (
    <form onSubmit={submit} className="max-w-[520px] space-y-3">
      <Field
        label="Personal access token"
        type="password"
        mono
        autoComplete="off"
        required
        value={token}
        onChange={(event) => setToken(event.target.value)}
        hint={
          <>
            Create a{" "}
            <a
              className="underline"
              href={`${url}/settings/personal-access-tokens/new`}
              target="_blank"
              rel="noreferrer"
            >
              fine-grained token
            </a>{" "}
            with the permissions Contents, Commit statuses and Webhooks (read and write). It is stored
            encrypted.
          </>
        }
        action={
          <Button
            type="submit"
            disabled={token.trim() === "" || save.isPending}
            className="h-8 pointer-coarse:h-10"
          >
            {save.isPending ? "Checking…" : "Save"}
          </Button>
        }
      />
      <Refusal error={save.error} />
    </form>
  );
}

function Disconnect() {
  const queries = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const disconnect = useMutation({
    mutationFn: deleteGithubToken,
    onSuccess: (connection) => {
      setOpen(false);
      toast.ok("Disconnected from GitHub.");
      queries.setQueryData(githubQuery.queryKey, connection);
    },
  });
  return (
    <>
      <Button look="ghost" onClick={() => setOpen(true)}>
        Disconnect
      </Button>
      <Confirm
        open={isOpen}
        onOpenChange={setOpen}
        title="Disconnect from GitHub?"
        description="Forge deletes its token. You can still sign in with GitHub."
        action="Disconnect"
        isBusy={disconnect.isPending}
        onConfirm={() => disconnect.mutate()}
      />
    </>
  );
}
