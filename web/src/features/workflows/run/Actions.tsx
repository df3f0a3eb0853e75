import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { RotateCcw, RotateCw } from "lucide-react";
import { useState } from "react";
import { isFinished } from "@/api/runs";
import type { RunStatus, WorkflowRunDetail } from "@/api/types";
import { cancelWorkflowRun, rerunWorkflowRun, retryWorkflowRun } from "@/api/workflowRuns";
import { workflowQuery } from "@/api/workflows";
import { Button } from "@/ui/Button";
import { Kbd } from "@/ui/Kbd";
import { CancelRun } from "@/ui/run/CancelRun";
import { useShortcut } from "@/ui/shortcuts";
import { asDefinition } from "../definition/model";
import { StartDialog } from "../start/StartDialog";

type Props = { run: WorkflowRunDetail; status: RunStatus };

/** Cancel, retry or repeat a run. */
export function Actions({ run, status }: Props) {
  if (!isFinished(status)) {
    return (
      <CancelRun
        title={run.workflow_name}
        cancel={() => cancelWorkflowRun(run.id)}
        description="The run, its finally steps and everything it started are stopped. Completed steps are kept; a retry continues from there."
      />
    );
  }
  return (
    <>
      {status !== "completed" && (
        <Retry run={run} from={status === "failed" ? "the failed step" : "where it stopped"} />
      )}
      <Again run={run} />
    </>
  );
}

function Retry({ run, from }: { run: WorkflowRunDetail; from: string }) {
  const navigate = useNavigate();
  const retry = useMutation({
    mutationFn: () => retryWorkflowRun(run.id),
    onSuccess: ({ run_id }) => navigate({ to: "/workflows/runs/$runId", params: { runId: run_id } }),
  });
  useShortcut("t", { label: `Retry from ${from}`, group: "Run", enabled: !retry.isPending }, retry.mutate);
  return (
    <Button
      look="primary"
      disabled={retry.isPending}
      title="Starts a new run that keeps completed steps"
      onClick={() => retry.mutate()}
    >
      <RotateCcw size={13} aria-hidden /> Retry <span className="max-lg:sr-only">from {from}</span>{" "}
      <Kbd keys="t" />
    </Button>
  );
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function Again({ run }: { run: WorkflowRunDetail }) {
  const [isAsking, setAsking] = useState(false);
  const newest = useQuery({ ...workflowQuery(run.workflow_id), enabled: isAsking, retry: false }).data
    ?.number;
  useShortcut("r", { label: "Run again", group: "Run" }, () => setAsking(true));
  return (
    <>
      <Button onClick={() => setAsking(true)}>
        <RotateCw size={13} aria-hidden /> <span className="max-sm:sr-only">Run again</span> <Kbd keys="r" />
      </Button>
      {isAsking && (
        <StartDialog
          title={`Run ${run.workflow_name} again`}
          inputs={asDefinition(run.definition).inputs ?? {}}
          given={isObject(run.payload) ? run.payload : run.inputs}
          newer={newest !== undefined && newest > run.number ? newest : null}
          start={(wish) => rerunWorkflowRun({ runId: run.id, ...wish })}
          close={() => setAsking(false)}
        />
      )}
    </>
  );
}
