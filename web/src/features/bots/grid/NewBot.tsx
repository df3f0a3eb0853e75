import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { createBot, refreshBot } from "@/api/bots";
import { modelsQuery } from "@/api/models";
import { Disclosure } from "@/ui/Disclosure";
import { Field } from "@/ui/Field";
import { FormActions } from "@/ui/FormActions";
import { Modal } from "@/ui/Modal";
import { Refusal } from "@/ui/Refusal";
import { AboutFields, LookFields, ModelField } from "../fields";
import { BLANK, type Form, mistakesOf, newBotOf } from "../form";

export function NewBot({ close }: { close: () => void }) {
  return (
    <Modal
      open
      onOpenChange={close}
      title="New bot"
      description="Only a name is required. You can change everything else later."
    >
      <NewBotForm close={close} />
    </Modal>
  );
}

function NewBotForm({ close }: { close: () => void }) {
  const cache = useQueryClient();
  const navigate = useNavigate();
  const models = useQuery(modelsQuery).data;
  const [form, setForm] = useState<Form>(BLANK);
  const change = (changed: Partial<Form>) => setForm((before) => ({ ...before, ...changed }));
  const create = useMutation({
    mutationFn: createBot,
    meta: { isShownInPlace: true },
    onSuccess: ({ slug }) => {
      refreshBot(cache, { slug, part: "bot" });
      return navigate({ to: "/bots/$slug/chat/{-$sessionId}", params: { slug } });
    },
  });
  const mistakes = mistakesOf(form);
  const isReady = Object.keys(mistakes).length === 0;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady && !create.isPending) create.mutate(newBotOf(form, models));
  };
  const part = { form, mistakes, change };
  return (
    <form onSubmit={submit} className="mt-4 space-y-4">
      <Field
        label="Name"
        placeholder="Release notes"
        required
        maxLength={200}
        autoComplete="off"
        value={form.name}
        onChange={(event) => change({ name: event.target.value })}
      />
      <Disclosure title="More">
        <AboutFields {...part} />
        <ModelField {...part} />
        <LookFields {...part} />
      </Disclosure>
      <Refusal error={create.error} />
      <FormActions close={close} isReady={isReady && !create.isPending}>
        Create
      </FormActions>
    </form>
  );
}
