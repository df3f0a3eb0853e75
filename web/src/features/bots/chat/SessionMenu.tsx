import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Download, FileJson, Pencil, Trash2 } from "lucide-react";
import { type FormEvent, useState } from "react";
import { deleteSession, exportAddress, renameSession } from "@/api/sessions";
import type { ChatSession } from "@/api/types";
import { Button } from "@/ui/Button";
import { Confirm } from "@/ui/Confirm";
import { Field } from "@/ui/Field";
import { Menu } from "@/ui/Menu";
import { Modal } from "@/ui/Modal";

type Props = { slug: string; session: ChatSession; isOpen: boolean };

/** Rename, export or delete a conversation. */
export function SessionMenu({ slug, session, isOpen }: Props) {
  const [asking, ask] = useState<"rename" | "delete" | null>(null);
  const close = () => ask(null);
  return (
    <>
      <Menu
        label={`Actions for ${session.title}`}
        className="mr-0.5 opacity-0 group-focus-within/row:opacity-100 group-hover/row:opacity-100 data-popup-open:opacity-100 pointer-coarse:opacity-100"
        groups={[
          [{ label: "Rename", icon: Pencil, run: () => ask("rename") }],
          [
            {
              label: "Export as Markdown",
              icon: Download,
              run: () => download(exportAddress(session.id, "markdown")),
            },
            {
              label: "Export as JSON",
              icon: FileJson,
              run: () => download(exportAddress(session.id, "json")),
            },
          ],
          [{ label: "Delete", icon: Trash2, isDanger: true, run: () => ask("delete") }],
        ]}
      />
      {asking === "rename" && <Rename slug={slug} session={session} close={close} />}
      {asking === "delete" && <Delete slug={slug} session={session} isOpen={isOpen} close={close} />}
    </>
  );
}

/** The server sends the file with its name. */
function download(address: string): void {
  const link = document.createElement("a");
  link.href = address;
  link.download = "";
  link.click();
}

function Rename({ slug, session, close }: { slug: string; session: ChatSession; close: () => void }) {
  const [title, setTitle] = useState(session.title);
  const cache = useQueryClient();
  const renaming = useMutation({
    mutationFn: renameSession,
    meta: { isShownInPlace: true },
    onSuccess: () => {
      void cache.invalidateQueries({ queryKey: ["bot", slug, "sessions"] });
      close();
    },
  });
  const mayTry = title.trim() !== "" && !renaming.isPending;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (mayTry) renaming.mutate({ id: session.id, title: title.trim() });
  };
  return (
    <Modal open onOpenChange={close} title="Rename conversation">
      <form onSubmit={submit} className="mt-4 space-y-4">
        <Field
          label="Title"
          maxLength={200}
          autoComplete="off"
          value={title}
          error={renaming.error?.message}
          onChange={(event) => setTitle(event.target.value)}
        />
        <div className="flex justify-end gap-2">
          <Button look="ghost" onClick={close}>
            Cancel
          </Button>
          <Button look="primary" type="submit" disabled={!mayTry}>
            Rename
          </Button>
        </div>
      </form>
    </Modal>
  );
}

function Delete({ slug, session, isOpen, close }: Props & { close: () => void }) {
  const cache = useQueryClient();
  const navigate = useNavigate();
  const deleting = useMutation({
    mutationFn: deleteSession,
    onSettled: close,
    onSuccess: () => {
      void cache.invalidateQueries({ queryKey: ["bot", slug, "sessions"] });
      if (!isOpen) return;
      void navigate({ to: "/bots/$slug/chat/{-$sessionId}", params: { slug, sessionId: undefined } });
    },
  });
  return (
    <Confirm
      open
      onOpenChange={close}
      title="Delete this conversation?"
      description={
        <>
          “{session.title}” and all its branches will be permanently deleted. Memories taken from it are kept.
        </>
      }
      action="Delete conversation"
      isBusy={deleting.isPending}
      onConfirm={() => deleting.mutate(session.id)}
    />
  );
}
