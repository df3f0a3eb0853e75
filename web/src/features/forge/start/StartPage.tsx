import { useMutation, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { interviewQuery, startInterview } from "@/api/builder";
import { Page } from "@/ui/Page";
import { Describe } from "./Describe";
import { Drafts } from "./Drafts";

const route = getRouteApi("/shell/forge");

/** Start a new interview or continue a draft. */
export function StartPage() {
  const { mode = "bot" } = route.useSearch();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const start = useMutation({
    mutationFn: startInterview,
    meta: { isShownInPlace: true },
    onSuccess: (interview) => {
      cache.setQueryData(interviewQuery(interview.session_id).queryKey, interview);
      return navigate({ to: "/forge/$sessionId", params: { sessionId: interview.session_id } });
    },
  });
  return (
    <Page title="Forge">
      <div className="mx-auto max-w-[760px] space-y-6 p-4 max-sm:p-3 sm:py-10">
        <Describe key={mode} kind={mode} start={start.mutate} isBusy={start.isPending} error={start.error} />
        <Drafts />
      </div>
    </Page>
  );
}
