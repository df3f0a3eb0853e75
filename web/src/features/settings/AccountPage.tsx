import { useMutation, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { LogOut } from "lucide-react";
import { type FormEvent, useState } from "react";
import { ApiError } from "@/api/client";
import { useLive } from "@/api/liveContext";
import { meQuery, rename, signOut } from "@/api/session";
import type { Account } from "@/api/types";
import { Button } from "@/ui/Button";
import { Field } from "@/ui/Field";
import { Fact, Facts } from "@/ui/KeyValues";
import { Panel } from "@/ui/Panel";
import { Segmented } from "@/ui/Segmented";
import { setTheme, THEMES, useTheme } from "@/ui/theme";
import { toast } from "@/ui/toast";

export function AccountPage() {
  const { account, scopes } = useSuspenseQuery(meQuery).data;
  return (
    <>
      <Panel title="Account" actions={<SignOut />}>
        <div className="space-y-4 p-3">
          <NameForm account={account} />
          <Facts>
            <Fact name="Role">{account.role}</Fact>
            <Fact name="Permissions">{scopes.join(", ")}</Fact>
            <Fact name="Created">{new Date(account.created_at).toLocaleDateString()}</Fact>
          </Facts>
        </div>
      </Panel>
      <Panel title="Appearance">
        <div className="p-3">
          <Appearance />
        </div>
      </Panel>
    </>
  );
}

function NameForm({ account }: { account: Account }) {
  const queries = useQueryClient();
  const [name, setName] = useState(account.name);
  const save = useMutation({
    mutationFn: rename,
    meta: { isShownInPlace: true },
    onSuccess: async (renamed) => {
      setName(renamed.name);
      toast.ok("Saved.");
      await queries.invalidateQueries({ queryKey: meQuery.queryKey });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate(name.trim());
  };
  const isChanged = name.trim() !== "" && name.trim() !== account.name;
  return (
    <form onSubmit={submit} className="max-w-[420px]">
      <Field
        label="Name"
        required
        maxLength={100}
        value={name}
        onChange={(event) => setName(event.target.value)}
        error={save.error instanceof ApiError ? save.error.message : null}
        action={
          <Button type="submit" disabled={!isChanged || save.isPending} className="h-8 pointer-coarse:h-10">
            Save
          </Button>
        }
      />
    </form>
  );
}

function SignOut() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const live = useLive();
  const leave = useMutation({
    mutationFn: signOut,
    onSuccess: async () => {
      live.close();
      await navigate({ to: "/login" });
      queries.clear();
    },
  });
  return (
    <Button look="ghost" onClick={() => leave.mutate()} disabled={leave.isPending}>
      <LogOut size={13} aria-hidden /> Sign out
    </Button>
  );
}

const THEME_WORD = { system: "System", light: "Light", dark: "Dark" } as const;

function Appearance() {
  const theme = useTheme();
  return (
    <Segmented
      label="Theme"
      value={theme}
      options={THEMES.map((value) => ({ value, label: THEME_WORD[value] }))}
      onChange={setTheme}
    />
  );
}
