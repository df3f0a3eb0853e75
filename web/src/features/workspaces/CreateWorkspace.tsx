import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { ApiError } from "@/api/client";
import { useMe } from "@/api/session";
import { createWorkspace, workspacesQuery } from "@/api/workspaces";
import { Field } from "@/ui/Field";
import { FormActions } from "@/ui/FormActions";
import { Modal } from "@/ui/Modal";
import { Segmented } from "@/ui/Segmented";

type Where = "new" | "adopted";
const WHERE: readonly { value: Where; label: string }[] = [
  { value: "new", label: "New directory" },
  { value: "adopted", label: "Existing directory" },
];

export function CreateWorkspace({ close }: { close: () => void }) {
  return (
    <Modal
      open
      onOpenChange={close}
      title="Create a workspace"
      description="A directory agents work in. They cannot access anything outside it."
    >
      <Form close={close} />
    </Modal>
  );
}

function Form({ close }: { close: () => void }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const mayAdopt = useMe()?.scopes.includes("admin") ?? false;
  const [name, setName] = useState("");
  const [where, setWhere] = useState<Where>("new");
  const [path, setPath] = useState("");
  const create = useMutation({
    mutationFn: createWorkspace,
    meta: { isShownInPlace: true },
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries({ queryKey: workspacesQuery.queryKey });
      await navigate({ to: "/workspaces/$workspaceId", params: { workspaceId: id } });
    },
  });
  const isAdopting = mayAdopt && where === "adopted";
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate({ name: name.trim(), path: isAdopting ? path.trim() : null });
  };
  const problem = create.error instanceof ApiError ? create.error : null;
  const said = problem && (problem.hint ? `${problem.message} ${problem.hint}` : problem.message);
  const isAboutPath = isAdopting && problem?.field !== "name";
  const isReady = name.trim() !== "" && (!isAdopting || path.trim() !== "");
  return (
    <form onSubmit={submit} className="mt-4 space-y-4">
      <Field
        label="Name"
        placeholder="basket"
        required
        maxLength={64}
        autoComplete="off"
        spellCheck={false}
        hint="Letters, digits, spaces, dots, dashes and underscores."
        value={name}
        onChange={(event) => setName(event.target.value)}
        error={isAboutPath ? null : said}
      />
      {mayAdopt && <Segmented label="Where" value={where} options={WHERE} onChange={setWhere} />}
      {isAdopting && (
        <Field
          label="Directory"
          mono
          required
          placeholder="/home/ada/basket"
          autoComplete="off"
          spellCheck={false}
          hint="On the server's machine. It is kept when the workspace is removed."
          value={path}
          onChange={(event) => setPath(event.target.value)}
          error={isAboutPath ? said : null}
        />
      )}
      <FormActions close={close} isReady={isReady && !create.isPending}>
        Create
      </FormActions>
    </form>
  );
}
