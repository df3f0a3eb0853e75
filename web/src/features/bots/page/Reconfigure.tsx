import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Hammer } from "lucide-react";
import { interviewQuery, startInterview } from "@/api/builder";
import type { Bot } from "@/api/types";
import { Button } from "@/ui/Button";

/** Start an interview that changes the bot. */
export function Reconfigure({ bot }: { bot: Bot }) {
  const cache = useQueryClient();
  const navigate = useNavigate();
  const start = useMutation({
    mutationFn: () => startInterview({ mode: "reconfigure", bot_slug: bot.slug }),
    onSuccess: (interview) => {
      const { session_id: sessionId } = interview;
      cache.setQueryData(interviewQuery(sessionId).queryKey, interview);
      return navigate({ to: "/forge/$sessionId", params: { sessionId } });
    },
  });
  return (
    <Button aria-label="Reconfigure with Forge" disabled={start.isPending} onClick={() => start.mutate()}>
      <Hammer size={13} aria-hidden /> <span className="max-sm:hidden">Reconfigure</span>
    </Button>
  );
}
