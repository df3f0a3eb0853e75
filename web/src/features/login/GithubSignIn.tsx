import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { githubConfigurationQuery, signInWithGithub } from "@/api/github";
import { Button } from "@/ui/Button";
import { InlineText } from "@/ui/InlineText";
import { Refusal } from "@/ui/Refusal";
import { takeFromAddress } from "./token";

/** The button that leads to GitHub, or how to configure it. */
export function GithubSignIn() {
  const [invitation] = useState(() => takeFromAddress("invitation"));
  const { data: configuration } = useQuery(githubConfigurationQuery);
  const start = useMutation({
    mutationFn: () => signInWithGithub(invitation),
    meta: { isShownInPlace: true },
  });
  if (!configuration) return null;
  if (!configuration.can_sign_in) {
    return (
      <p className="text-xs text-dim">
        <InlineText text="To sign in with GitHub, set `GITHUB_CLIENT_ID` and `GITHUB_CLIENT_SECRET` of an OAuth app on the server." />
      </p>
    );
  }
  return (
    <div className="space-y-3">
      {invitation && <p>You were invited to this server. Sign in with GitHub to join.</p>}
      <Refusal error={start.error} />
      <Button
        look="primary"
        className="w-full"
        disabled={start.isPending || start.isSuccess}
        onClick={() => start.mutate()}
      >
        {start.isPending || start.isSuccess ? "Going to GitHub…" : "Sign in with GitHub"}
      </Button>
    </div>
  );
}
