import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Plus, X } from "lucide-react";
import { type FormEvent, useState } from "react";
import { channelsQuery, listenTo, refreshMessages, stopListening } from "@/api/messages";
import { Button, IconButton } from "@/ui/Button";
import { count } from "@/ui/count";
import { Field } from "@/ui/Field";
import { Panel } from "@/ui/Panel";
import { Refusal } from "@/ui/Refusal";

/** The channels this bot is subscribed to. */
export function Channels({ slug }: { slug: string }) {
  const cache = useQueryClient();
  const all = useQuery(channelsQuery).data;
  const [name, setName] = useState("");
  const settle = { onSuccess: () => refreshMessages(cache) };
  const join = useMutation({ mutationFn: listenTo, meta: { isShownInPlace: true }, ...settle });
  const leave = useMutation({ mutationFn: stopListening, ...settle });
  const heard = all?.filter(({ bots }) => bots.includes(slug)) ?? [];
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const wanted = name.trim().replace(/^#/, "");
    if (wanted) join.mutate({ name: wanted, bot: slug }, { onSuccess: () => setName("") });
  };
  return (
    <Panel title="Subscribed channels" {...(all && { count: heard.length })} className="self-start">
      <ul className="divide-y divide-line">
        {heard.map((channel) => (
          <li key={channel.name} className="flex items-center gap-2 py-1 pr-1 pl-3">
            <span className="mono min-w-0 truncate">#{channel.name}</span>
            <span className="ml-auto shrink-0 text-xs text-faint">{count(channel.bots.length, "bot")}</span>
            <IconButton
              label={`Unsubscribe from ${channel.name}`}
              disabled={leave.isPending}
              onClick={() => leave.mutate({ name: channel.name, bot: slug })}
            >
              <X size={13} aria-hidden />
            </IconButton>
          </li>
        ))}
      </ul>
      <form onSubmit={submit} className="space-y-2 border-t border-line p-3">
        <Field
          label="Subscribe to a channel"
          mono
          placeholder="news"
          autoComplete="off"
          maxLength={64}
          list="channels"
          value={name}
          onChange={(event) => setName(event.target.value)}
          action={
            <Button type="submit" disabled={!name.trim() || join.isPending}>
              <Plus size={13} aria-hidden /> Add
            </Button>
          }
        />
        <datalist id="channels">
          {all?.map((channel) => (
            <option key={channel.name} value={channel.name} />
          ))}
        </datalist>
        <Refusal error={join.error} />
      </form>
    </Panel>
  );
}
