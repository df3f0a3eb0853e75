import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { SquareCheckBig } from "lucide-react";
import { type FormEvent, useId, useState } from "react";
import { auditRootsQuery, startAudit } from "@/api/audits";
import { workspacesQuery } from "@/api/workspaces";
import { CheckField } from "@/ui/CheckField";
import { Field, TextArea } from "@/ui/Field";
import { FormActions } from "@/ui/FormActions";
import { InlineText } from "@/ui/InlineText";
import { Modal } from "@/ui/Modal";
import { Refusal } from "@/ui/Refusal";
import { Segmented } from "@/ui/Segmented";
import { Select } from "@/ui/Select";
import { allowance, BLANK, bodyOf, type Form, isReady, recording } from "./wish";

const PLACES: readonly { value: Form["place"]; label: string }[] = [
  { value: "folder", label: "A folder on the server" },
  { value: "workspace", label: "A workspace" },
];

export function StartAudit({ close }: { close: () => void }) {
  return (
    <Modal
      open
      wide
      onOpenChange={close}
      title="Audit a project"
      description="Checks the changes since the last commit and the project as a whole. No project code runs unless you ask for its tests."
    >
      <AuditForm close={close} />
    </Modal>
  );
}

type Part = { form: Form; change: (changed: Partial<Form>) => void };

function AuditForm({ close }: { close: () => void }) {
  const navigate = useNavigate();
  const [form, setForm] = useState(BLANK);
  const change = (changed: Partial<Form>) => setForm((before) => ({ ...before, ...changed }));
  const allowed = useQuery(auditRootsQuery).data;
  const isComplete = isReady(form, allowed ? allowed.start !== null : true);
  const start = useMutation({
    mutationFn: startAudit,
    meta: { isShownInPlace: true },
    onSuccess: (run) => navigate({ to: "/runs/$runId", params: { runId: run.id } }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isComplete && !start.isPending) start.mutate(bodyOf(form));
  };
  return (
    <form onSubmit={submit} className="mt-4 space-y-4">
      <WhereFields form={form} change={change} />
      <ChangeFields form={form} change={change} />
      <div className="space-y-1.5">
        <CheckField
          label="Run the tests first"
          hint="Runs in the sandbox and records the result as evidence."
          checked={form.evidence}
          onChange={(evidence) => change({ evidence })}
        />
        {form.evidence && (
          <TextArea
            label="Purpose of the change"
            rows={2}
            maxLength={10_000}
            hint="First line of the diff log recorded with the tests."
            value={form.summary}
            onChange={(event) => change({ summary: event.target.value })}
          />
        )}
        <CheckField
          label="Append to the ledger"
          hint={recording(form)}
          checked={form.ledger}
          onChange={(ledger) => change({ ledger })}
        />
      </div>
      <Refusal error={start.error} />
      <FormActions close={close} isReady={isComplete && !start.isPending}>
        <SquareCheckBig size={13} aria-hidden /> Start
      </FormActions>
    </form>
  );
}

function WhereFields({ form, change }: Part) {
  const workspaces = useQuery(workspacesQuery).data ?? [];
  const options = [
    { value: "", label: workspaces.length > 0 ? "Select a workspace" : "No workspaces yet" },
    ...workspaces.map(({ id, name }) => ({ value: id, label: name })),
  ];
  return (
    <div className="space-y-2">
      <Segmented
        label="What to audit"
        value={form.place}
        options={PLACES}
        onChange={(place) => change({ place })}
      />
      {form.place === "workspace" ? (
        <Select
          label="Workspace"
          className="w-full"
          value={form.workspaceId}
          options={options}
          onChange={(workspaceId) => change({ workspaceId })}
        />
      ) : (
        <FolderField form={form} change={change} />
      )}
    </div>
  );
}

/** Any allowed folder can be typed; projects found by the server are suggested. */
function FolderField({ form, change }: Part) {
  const allowed = useQuery(auditRootsQuery).data;
  const projects = useId();
  return (
    <>
      <Field
        label="Folder"
        mono
        list={projects}
        placeholder={allowed?.start ?? allowed?.projects[0] ?? "/home/ada/basket"}
        autoComplete="off"
        spellCheck={false}
        hint={<InlineText text={allowance(allowed)} />}
        value={form.path}
        onChange={(event) => change({ path: event.target.value })}
      />
      <datalist id={projects}>
        {allowed?.projects.map((path) => (
          <option key={path} value={path} />
        ))}
      </datalist>
    </>
  );
}

function ChangeFields({ form, change }: Part) {
  return (
    <>
      <TextArea
        label="Claimed files"
        mono
        rows={3}
        spellCheck={false}
        placeholder={"app/basket.py\ntests/test_basket.py"}
        hint="One per line: the files this change is expected to touch. Leave empty to skip the scope check."
        value={form.claims}
        onChange={(event) => change({ claims: event.target.value })}
      />
      <div className="grid gap-3 sm:grid-cols-3">
        <Field
          label="Phase"
          placeholder="Phase 3"
          maxLength={200}
          value={form.phase}
          onChange={(event) => change({ phase: event.target.value })}
        />
        <Field
          label="Base"
          mono
          placeholder="HEAD"
          maxLength={200}
          spellCheck={false}
          value={form.base}
          onChange={(event) => change({ base: event.target.value })}
        />
        <Field
          label="Checks"
          mono
          placeholder="all"
          spellCheck={false}
          value={form.only}
          onChange={(event) => change({ only: event.target.value })}
        />
      </div>
    </>
  );
}
