import { useMutation, useQueryClient } from "@tanstack/react-query";
import { SendHorizontal } from "lucide-react";
import { type FormEvent, useState } from "react";
import { refreshMessages, sendMessage } from "@/api/messages";
import { Button } from "@/ui/Button";
import { TextArea } from "@/ui/Field";
import { Kbd } from "@/ui/Kbd";
import { onSend } from "@/ui/keys";
import { Refusal } from "@/ui/Refusal";
import { Select } from "@/ui/Select";
import { TYPES } from "./words";

/** Send a message to this bot. The reply appears in the list below. */
export function Send({ slug, name }: { slug: string; name: string }) {
  const cache = useQueryClient();
  const [body, setBody] = useState("");
  const [messageType, setType] = useState("text");
  const send = useMutation({
    mutationFn: sendMessage,
    meta: { isShownInPlace: true },
    onSuccess: (_message, sent) => {
      // More may have been typed since.
      setBody((now) => (now.trim() === sent.body ? "" : now));
      refreshMessages(cache);
    },
  });
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (body.trim() && !send.isPending) send.mutate({ to: slug, body: body.trim(), messageType });
  };
  return (
    <form onSubmit={submit} className="space-y-2 rounded-lg border border-line bg-surface p-3">
      <TextArea
        label={`Write to ${name}`}
        rows={2}
        value={body}
        hint={TYPES.find(({ value }) => value === messageType)?.hint}
        onChange={(event) => setBody(event.target.value)}
        onKeyDown={onSend(submit)}
      />
      <Refusal error={send.error} />
      <div className="flex items-center gap-2">
        <Select label="Type" value={messageType} options={TYPES} onChange={setType} />
        <Button look="primary" type="submit" className="ml-auto" disabled={!body.trim() || send.isPending}>
          <SendHorizontal size={13} aria-hidden /> Send <Kbd keys="mod+enter" />
        </Button>
      </div>
    </form>
  );
}
