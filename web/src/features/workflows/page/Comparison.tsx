import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Undo2 } from "lucide-react";
import { useMemo, useState } from "react";
import type { WorkflowDetail, WorkflowVersion } from "@/api/types";
import { refreshWorkflow, saveWorkflow, workflowVersionQuery } from "@/api/workflows";
import { Button } from "@/ui/Button";
import { Code } from "@/ui/Code";
import { Confirm } from "@/ui/Confirm";
import { compare } from "@/ui/compare";
import { Diff } from "@/ui/Diff";
import { ErrorState } from "@/ui/ErrorState";
import { Select } from "@/ui/Select";
import { SkeletonRows } from "@/ui/Skeleton";
import { toast } from "@/ui/toast";
import { refOf } from "../words";

type Props = {
  workflow: WorkflowDetail;
  reference: string;
  shown: number;
  /** null: show the text without a comparison. */
  other: number | null;
  versions: readonly WorkflowVersion[];
};

/** Always from the older to the newer version. */
export function Comparison({ workflow, reference, shown, other, versions }: Props) {
  const left = useQuery(workflowVersionQuery(reference, Math.min(shown, other ?? shown)));
  const right = useQuery(workflowVersionQuery(reference, Math.max(shown, other ?? shown)));
  const failed = [left, right].find((query) => query.isLoadingError);
  const diff = useMemo(
    () =>
      left.data && right.data && other !== null
        ? compare(left.data.source, right.data.source, {
            left: `version ${left.data.number}`,
            right: `version ${right.data.number}`,
          })
        : null,
    [left.data, right.data, other],
  );
  return (
    <div className="flex min-h-0 min-w-0 flex-1 flex-col gap-2">
      <Bar workflow={workflow} reference={reference} shown={shown} other={other} versions={versions} />
      {failed && <ErrorState error={failed.error} retry={failed.refetch} />}
      {!failed && !(left.data && right.data) && <SkeletonRows rows={8} label="Loading version" />}
      {diff && <Diff diff={diff} className="min-h-72 flex-1" />}
      {right.data && other === null && (
        <div className="min-h-0 overflow-auto">
          <Code text={right.data.source} language="yaml" />
        </div>
      )}
    </div>
  );
}

function Bar({ workflow, reference, shown, other, versions }: Props) {
  const navigate = useNavigate();
  const options = versions
    .filter(({ number }) => number !== shown)
    .map(({ number }) => ({ value: String(number), label: `version ${number}` }));
  return (
    <div className="flex flex-wrap items-center gap-2">
      <h2 className="font-semibold">Version {shown}</h2>
      {other !== null && <span className="text-dim">compared with</span>}
      {options.length > 0 && (
        <Select
          label="Compare with"
          value={String(other ?? "")}
          options={other === null ? [{ value: "", label: "Compare with…" }, ...options] : options}
          onChange={(value) =>
            void navigate({
              to: "/workflows/$ref/versions",
              params: { ref: reference },
              search: { version: shown, with: Number(value) || undefined },
              replace: true,
            })
          }
        />
      )}
      {shown !== workflow.number && <Restore workflow={workflow} reference={reference} number={shown} />}
    </div>
  );
}

type RestoreProps = { workflow: WorkflowDetail; reference: string; number: number };

/** The old text becomes the newest version, so nothing is lost. */
function Restore({ workflow, reference, number }: RestoreProps) {
  const cache = useQueryClient();
  const navigate = useNavigate();
  const [isAsking, setAsking] = useState(false);
  const old = useQuery(workflowVersionQuery(reference, number)).data;
  const save = useMutation({
    mutationFn: (source: string) =>
      saveWorkflow({ ref: workflow.id, source, expected_number: workflow.number }),
    onSuccess: async (saved) => {
      refreshWorkflow(cache, { workflow_id: saved.id, name: saved.name });
      toast.ok(`Restored version ${number} as version ${saved.number}.`);
      await navigate({
        to: "/workflows/$ref/versions",
        params: { ref: refOf(saved) },
        search: {},
        replace: true,
      });
    },
    onSettled: () => setAsking(false),
  });
  return (
    <>
      <Button className="ml-auto" disabled={!old} onClick={() => setAsking(true)}>
        <Undo2 size={13} aria-hidden /> Restore this version
      </Button>
      <Confirm
        open={isAsking}
        onOpenChange={setAsking}
        title={`Restore version ${number}?`}
        description="It becomes the newest version, including its triggers. The current version stays in this list; runs in progress keep theirs."
        action={`Restore version ${number}`}
        isBusy={save.isPending}
        onConfirm={() => old && save.mutate(old.source)}
      />
    </>
  );
}
