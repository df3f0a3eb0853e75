import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Button } from "@/ui/Button";
import { CopyButton } from "@/ui/CopyButton";
import { Field } from "@/ui/Field";
import { FormActions } from "@/ui/FormActions";
import { Modal } from "@/ui/Modal";
import { Refusal } from "@/ui/Refusal";
import { Segmented } from "@/ui/Segmented";
import { invitationsQuery, invite } from "./team";

type Kind = "user" | "organization";
const KINDS = [
  { value: "user", label: "One GitHub user" },
  { value: "organization", label: "Members of an organization" },
] as const;

type Props = { open: boolean; onOpenChange: (open: boolean) => void };

export function InviteDialog({ open, onOpenChange }: Props) {
  return (
    <Modal
      open={open}
      onOpenChange={onOpenChange}
      title="Invite members"
      description="The link is valid for seven days. Members see only what is their own and what you share."
    >
      <InviteForm close={() => onOpenChange(false)} />
    </Modal>
  );
}

function InviteForm({ close }: { close: () => void }) {
  const queries = useQueryClient();
  const [kind, setKind] = useState<Kind>("user");
  const [text, setText] = useState("");
  const create = useMutation({
    mutationFn: invite,
    meta: { isShownInPlace: true },
    onSuccess: () => queries.invalidateQueries({ queryKey: invitationsQuery.queryKey }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const names = text.split(",").flatMap((name) => name.trim() || []);
    create.mutate(
      kind === "user"
        ? { github_login: text.trim(), organizations: [] }
        : { github_login: null, organizations: names },
    );
  };
  if (create.data) return <Link url={create.data.url} close={close} />;
  return (
    <form onSubmit={submit} className="mt-4 space-y-4">
      <Segmented label="For" value={kind} options={KINDS} onChange={setKind} />
      <Field
        label={kind === "user" ? "GitHub login" : "Organizations"}
        hint={kind === "user" ? "Only this user can use the link, once." : "Separate several with commas."}
        required
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <Refusal error={create.error} />
      <FormActions close={close} isReady={text.trim() !== "" && !create.isPending}>
        Create link
      </FormActions>
    </form>
  );
}

function Link({ url, close }: { url: string; close: () => void }) {
  return (
    <div className="mt-4 space-y-3">
      <p role="status">
        Send this link to the invited person. It is shown <strong className="font-semibold">only once</strong>
        .
      </p>
      <code className="mono block rounded-md border border-line bg-bg p-2 break-all select-all">{url}</code>
      <div className="flex justify-end gap-2">
        <CopyButton text={url} label="Copy link" />
        <Button look="primary" onClick={close}>
          Done
        </Button>
      </div>
    </div>
  );
}
