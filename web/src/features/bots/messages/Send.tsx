import { useMutation, useQueryClient } from "@tanstack/react-query";
import { SendHorizontal } from "lucide-react";
import { type FormEvent, type KeyboardEvent, useState } from "react";
import { refreshMessages, sendMessage } from "@/api/messages";
import { Button } from "@/ui/Button";
import { TextArea } from "@/ui/Field";
import { Kbd } from "@/ui/Kbd";
import { Refusal } from "@/ui/Refusal";
import { Select } from "@/ui/Select";
import { TYPES } from "./words";

/** Write to this bot, as oneself. The reply appears below when it is there. */
export function Send({ slug }: { slug: string }) {
  const cache = useQueryClient();
  const [body, setBody] = useState("");
  const [messageType, setType] = useState("text");
  const send = useMutation({
    mutationFn: sendMessage,
    meta: { isShownInPlace: true },
    onSuccess: () => {
      setBody("");
      refreshMessages(cache);
    },
  });
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (body.trim() && !send.isPending) send.mutate({ to: slug, body: body.trim(), messageType });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit();
  };
  return (
    <form onSubmit={submit} className="space-y-2 rounded-lg border border-line bg-surface p-3">
      <TextArea
        label={`Write to ${slug}`}
        rows={2}
        value={body}
        hint={TYPES.find(({ value }) => value === messageType)?.hint}
        onChange={(event) => setBody(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <Refusal error={send.error} />
      <div className="flex items-center gap-2">
        <Select label="What it is" value={messageType} options={TYPES} onChange={setType} />
        <Button look="primary" type="submit" className="ml-auto" disabled={!body.trim() || send.isPending}>
          <SendHorizontal size={13} aria-hidden /> Send <Kbd keys="mod+enter" />
        </Button>
      </div>
    </form>
  );
}
