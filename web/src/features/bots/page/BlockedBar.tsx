import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { TriangleAlert } from "lucide-react";
import { changeBot, refreshBot } from "@/api/bots";
import type { Bot } from "@/api/types";
import { Button, buttonClass } from "@/ui/Button";
import { InlineText } from "@/ui/InlineText";

/** Why a bot cannot answer and how to fix it. Shown on all of its pages. */
export function BlockedBar({ bot, reason }: { bot: Bot; reason: string }) {
  return (
    <div
      role="status"
      className="wash-wait flex shrink-0 flex-wrap items-center gap-x-3 gap-y-1 border-b px-4 py-1.5 max-sm:px-3"
    >
      <TriangleAlert size={14} aria-hidden className="shrink-0 text-wait" />
      <p className="min-w-0 flex-1 basis-52 break-words">
        <InlineText text={reason} />
      </p>
      {bot.status === "active" ? <Repair bot={bot} /> : <WakeUp bot={bot} />}
    </div>
  );
}

/** Links to the line of the file that causes the problem. */
function Repair({ bot }: { bot: Bot }) {
  const cause = bot.problems.find((problem) => !problem.is_warning);
  const file = cause?.file === "soul" ? undefined : cause?.file;
  return (
    <Link
      to="/bots/$slug/soul"
      params={{ slug: bot.slug }}
      search={{ file, line: cause?.line ?? undefined }}
      className={buttonClass()}
    >
      Review
    </Link>
  );
}

function WakeUp({ bot }: { bot: Bot }) {
  const cache = useQueryClient();
  const wake = useMutation({
    mutationFn: changeBot,
    onSuccess: ({ slug }) => refreshBot(cache, { slug, part: "bot" }),
  });
  return (
    <Button disabled={wake.isPending} onClick={() => wake.mutate({ slug: bot.slug, status: "active" })}>
      {bot.status === "archived" ? "Unarchive" : "Enable"}
    </Button>
  );
}
