import { useMutation, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useEffect, useState } from "react";
import { meQuery, signIn } from "@/api/session";
import { Button } from "@/ui/Button";
import { Field } from "@/ui/Field";
import { InlineText } from "@/ui/InlineText";
import { Mark } from "@/ui/Mark";
import { Refusal } from "@/ui/Refusal";
import { GithubSignIn } from "./GithubSignIn";
import { takeFromAddress, takeProblem, tokenIn } from "./token";

const route = getRouteApi("/login");

export function LoginPage() {
  const { next = "/" } = route.useSearch();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const { mutate, error, isPending, isSuccess } = useMutation({
    mutationFn: signIn,
    meta: { isShownInPlace: true },
    onSuccess: async () => {
      await queries.resetQueries({ queryKey: meQuery.queryKey });
      await navigate({ to: next, replace: true });
    },
  });
  const [problem] = useState(takeProblem);
  const [isByLink, setByLink] = useState(() => window.location.hash.includes("token="));
  useEffect(() => {
    const enter = () => {
      const token = takeFromAddress("token");
      if (token) mutate(token, { onError: () => setByLink(false) });
    };
    enter();
    window.addEventListener("hashchange", enter);
    return () => window.removeEventListener("hashchange", enter);
  }, [mutate]);

  return (
    <main className="grid min-h-dvh place-items-center p-4">
      <title>Sign in · Forge</title>
      <div className="w-full max-w-[380px] space-y-5">
        <div className="flex items-center gap-2.5">
          <Mark className="size-7" />
          <h1 className="text-lg font-semibold">Sign in to Forge</h1>
        </div>
        <Refusal error={error ?? problem} />
        {isByLink ? (
          <p role="status" className="text-dim">
            Signing you in…
          </p>
        ) : (
          <>
            <GithubSignIn />
            <LinkForm isBusy={isPending || isSuccess} onToken={mutate} />
          </>
        )}
      </div>
    </main>
  );
}

function LinkForm({ isBusy, onToken }: { isBusy: boolean; onToken: (token: string) => void }) {
  const [pasted, setPasted] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const token = tokenIn(pasted);
    if (token) onToken(token);
  };
  return (
    <>
      <p className="text-dim">
        <InlineText text="Or sign in with a one-time link. `forge serve` prints one when it starts; `forge login --link` creates a new one." />
      </p>
      <form onSubmit={submit} className="space-y-3">
        <Field
          label="Link or token"
          mono
          required
          autoComplete="off"
          spellCheck={false}
          placeholder={`${window.location.origin}/login#token=…`}
          value={pasted}
          onChange={(event) => setPasted(event.target.value)}
        />
        <Button look="primary" type="submit" disabled={isBusy || !pasted.trim()} className="w-full">
          {isBusy ? "Signing in…" : "Sign in"}
        </Button>
      </form>
    </>
  );
}
