import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { cloneBot, refreshBot } from "@/api/bots";
import type { Bot } from "@/api/types";
import { Field } from "@/ui/Field";
import { FormActions } from "@/ui/FormActions";
import { Modal } from "@/ui/Modal";
import { Refusal } from "@/ui/Refusal";
import { toast } from "@/ui/toast";

export function CloneBot({ bot, close }: { bot: Bot; close: () => void }) {
  const name = bot.identity.display_name;
  return (
    <Modal
      open
      onOpenChange={close}
      title={`Clone ${name}`}
      description="Copies the files under a new name, without history, memories or conversations."
    >
      <CloneForm bot={bot} close={close} />
    </Modal>
  );
}

function CloneForm({ bot, close }: { bot: Bot; close: () => void }) {
  const cache = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState(`${bot.identity.display_name} (Clone)`);
  const clone = useMutation({
    mutationFn: cloneBot,
    meta: { isShownInPlace: true },
    onSuccess: ({ slug, identity }) => {
      close();
      toast.ok(`Created ${identity.display_name}.`);
      refreshBot(cache, { slug, part: "bot" });
      return navigate({ to: "/bots/$slug/chat/{-$sessionId}", params: { slug } });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() && !clone.isPending) clone.mutate({ slug: bot.slug, name: name.trim() });
  };
  return (
    <form onSubmit={submit} className="mt-4 space-y-4">
      <Field
        label="Name"
        required
        maxLength={200}
        autoComplete="off"
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <Refusal error={clone.error} />
      <FormActions close={close} isReady={name.trim() !== "" && !clone.isPending}>
        Clone
      </FormActions>
    </form>
  );
}
