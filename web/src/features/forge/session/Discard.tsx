import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { deleteInterview } from "@/api/builder";
import { Button } from "@/ui/Button";
import { Confirm } from "@/ui/Confirm";
import { toast } from "@/ui/toast";

/** Delete the interview. Leaving the page keeps it as a draft. */
export function Discard({ sessionId }: { sessionId: string }) {
  const [isAsked, setAsked] = useState(false);
  const navigate = useNavigate();
  const discard = useMutation({
    mutationFn: () => deleteInterview(sessionId),
    onSuccess: async () => {
      await navigate({ to: "/forge" });
      toast.ok("Discarded.");
    },
  });
  return (
    <>
      <Button onClick={() => setAsked(true)} aria-label="Discard">
        <Trash2 size={13} aria-hidden /> <span className="max-sm:hidden">Discard</span>
      </Button>
      <Confirm
        open={isAsked}
        onOpenChange={setAsked}
        title="Discard this interview?"
        description="Your answers will be deleted. To continue later, just leave; the interview is kept under drafts."
        action="Discard"
        isBusy={discard.isPending}
        onConfirm={() => discard.mutate()}
      />
    </>
  );
}
