import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { createWorkflow, refreshWorkflow, templatesQuery, workflowQuery } from "@/api/workflows";
import { ErrorState } from "@/ui/ErrorState";
import { Page } from "@/ui/Page";
import { SkeletonRows } from "@/ui/Skeleton";
import { toast } from "@/ui/toast";
import { asDefinition } from "../definition/model";
import { added } from "../definition/steps";
import { CRUMBS, refOf } from "../words";
import { type Draft, isSame, wishOf } from "./draft";
import { TemplatePicker } from "./TemplatePicker";
import { readingQuery } from "./useReading";
import { useWriting } from "./useWriting";
import { WorkflowEditor } from "./WorkflowEditor";

const route = getRouteApi("/shell/workflows/new");
/** The search param for an empty workflow. */
const BLANK = "blank";

/** Create a workflow: choose a template, then edit it. It exists once it is saved. */
export function NewWorkflowPage() {
  const { template } = route.useSearch();
  const navigate = useNavigate();
  if (template === undefined) {
    return (
      <Page title="New workflow" crumbs={CRUMBS}>
        <TemplatePicker
          begin={(id) => void navigate({ to: "/workflows/new", search: { template: id ?? BLANK } })}
        />
      </Page>
    );
  }
  return template === BLANK ? (
    <Begun key={BLANK} first={blank()} />
  ) : (
    <FromTemplate key={template} id={template} />
  );
}

function blank(): Draft {
  const { definition } = added({ name: "my-workflow", steps: [] }, "agent");
  return { definition, source: "", ahead: "definition" };
}

function FromTemplate({ id }: { id: string }) {
  const templates = useQuery(templatesQuery);
  const source = templates.data?.find((one) => one.id === id)?.source;
  const reading = useQuery({ ...readingQuery({ source: source ?? "" }), enabled: source !== undefined });
  if (reading.data && source !== undefined) {
    const { definition } = reading.data;
    return (
      <Begun first={{ definition: definition ? asDefinition(definition) : null, source, ahead: null }} />
    );
  }
  const isUnknown = templates.isSuccess && source === undefined;
  const error = isUnknown ? { message: `Template ${id} not found.` } : (templates.error ?? reading.error);
  return (
    <Page title="New workflow" crumbs={CRUMBS}>
      {error ? <ErrorState error={error} /> : <SkeletonRows rows={8} label="Loading template" />}
    </Page>
  );
}

function Begun({ first }: { first: Draft }) {
  const cache = useQueryClient();
  const navigate = useNavigate();
  const writing = useWriting(first);
  const create = useMutation({
    mutationFn: createWorkflow,
    meta: { isShownInPlace: true },
    onSuccess: (made) => {
      for (const ref of [made.id, made.name]) cache.setQueryData(workflowQuery(ref).queryKey, made);
      refreshWorkflow(cache, { workflow_id: made.id, name: made.name });
      toast.ok(`Saved ${made.name}.`);
      return navigate({
        to: "/workflows/$ref/edit",
        params: { ref: refOf(made) },
        replace: true,
        ignoreBlocker: true,
      });
    },
  });
  return (
    <WorkflowEditor
      name="New workflow"
      writing={writing}
      first={first.definition ? "canvas" : "yaml"}
      reference={null}
      saving={{
        isDirty: true,
        isPending: create.isPending,
        error: create.error,
        save: () => create.mutate(wishOf(writing.draft)),
      }}
      mayLeave={isSame(writing.draft, first)}
    />
  );
}
