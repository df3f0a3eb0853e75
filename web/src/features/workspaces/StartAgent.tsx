import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Sparkles } from "lucide-react";
import { type FormEvent, useState } from "react";
import { startAgent, testCommandsQuery } from "@/api/agents";
import type { AgentRole, Workspace } from "@/api/types";
import { Button } from "@/ui/Button";
import { Disclosure } from "@/ui/Disclosure";
import { Field, TextArea } from "@/ui/Field";
import { FormActions } from "@/ui/FormActions";
import { Kbd } from "@/ui/Kbd";
import { onSend } from "@/ui/keys";
import { Modal } from "@/ui/Modal";
import { Refusal } from "@/ui/Refusal";
import { RoleField } from "./RoleField";

const TURNS = { usual: 100, most: 1000 };

/** Start an agent and open its run. */
export function StartAgent({ workspace, close }: { workspace: Workspace; close: () => void }) {
  return (
    <Modal
      open
      onOpenChange={close}
      wide
      title={`Start an agent in ${workspace.name}`}
      description="It reads and changes the files of this workspace, and runs commands in the sandbox."
    >
      <Form workspace={workspace} close={close} />
    </Modal>
  );
}

function Form({ workspace, close }: { workspace: Workspace; close: () => void }) {
  const navigate = useNavigate();
  const [task, setTask] = useState("");
  const [role, setRole] = useState<AgentRole>("builder");
  const [turns, setTurns] = useState(String(TURNS.usual));
  const [verify, setVerify] = useState("");
  const start = useMutation({
    mutationFn: startAgent,
    meta: { isShownInPlace: true },
    onSuccess: (run) => navigate({ to: "/runs/$runId", params: { runId: run.id } }),
  });
  const limit = Number(turns);
  const isLimit = Number.isInteger(limit) && limit >= 1 && limit <= TURNS.most;
  const isReady = task.trim() !== "" && isLimit && !start.isPending;
  const send = () =>
    isReady &&
    start.mutate({
      workspaceId: workspace.id,
      task: task.trim(),
      role,
      turns: limit,
      verify: verify.trim() || null,
    });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    send();
  };
  return (
    <form onSubmit={submit} className="mt-4 space-y-4">
      <TextArea
        label="Task"
        required
        rows={6}
        maxLength={100_000}
        placeholder="Make the tests in tests/test_basket.py pass, without changing the tests."
        hint="Describe the expected result and how to check it."
        value={task}
        onChange={(event) => setTask(event.target.value)}
        onKeyDown={onSend(send)}
      />
      <RoleField role={role} onRole={setRole} />
      <Verify workspaceId={workspace.id} command={verify} onCommand={setVerify} />
      <Advanced turns={turns} onTurns={setTurns} isLimit={isLimit} />
      <Refusal error={start.error} />
      <FormActions close={close} isReady={isReady}>
        <Sparkles size={13} aria-hidden /> Start <Kbd keys="mod+enter" />
      </FormActions>
    </form>
  );
}

/** Offers to run the tests of the workspace at the end. */
function Verify({
  workspaceId,
  command,
  onCommand,
}: {
  workspaceId: string;
  command: string;
  onCommand: (command: string) => void;
}) {
  const found = useQuery(testCommandsQuery(workspaceId)).data?.[0];
  return (
    <Field
      label="Verify with"
      mono
      maxLength={1000}
      placeholder="no test command"
      hint="Forge runs this test command itself when the agent says that it is done, and keeps the result."
      value={command}
      onChange={(event) => onCommand(event.target.value)}
      action={found && found !== command && <Button onClick={() => onCommand(found)}>Use {found}</Button>}
    />
  );
}

function Advanced({
  turns,
  onTurns,
  isLimit,
}: {
  turns: string;
  onTurns: (turns: string) => void;
  isLimit: boolean;
}) {
  return (
    <Disclosure title="Advanced">
      <Field
        label="Maximum turns"
        type="number"
        min={1}
        max={TURNS.most}
        mono
        className="max-w-72"
        hint="Each model answer is a turn. Cost is limited separately by the budget."
        value={turns}
        onChange={(event) => onTurns(event.target.value)}
        error={isLimit ? null : `A whole number from 1 to ${TURNS.most}.`}
      />
    </Disclosure>
  );
}
