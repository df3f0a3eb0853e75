import { useMutation } from "@tanstack/react-query";
import { SendHorizontal } from "lucide-react";
import { type FormEvent, useId, useState } from "react";
import { tellAgent } from "@/api/agents";
import { ApiError } from "@/api/client";
import type { Interjection } from "@/api/types";
import { Button } from "@/ui/Button";
import { Kbd } from "@/ui/Kbd";
import { onSend } from "@/ui/keys";

const MAX_CHARACTERS = 20_000;

/** Send a message to a running agent. It is delivered before the next model call. */
export function Composer({ runId, onSent }: { runId: string; onSent: (message: Interjection) => void }) {
  const [text, setText] = useState("");
  const id = useId();
  const tell = useMutation({
    mutationFn: tellAgent,
    meta: { isShownInPlace: true },
    onSuccess: (message, sent) => {
      // More may have been typed since.
      setText((now) => (now.trim() === sent.text ? "" : now));
      onSent(message);
    },
  });
  const mayTell = text.trim() !== "" && !tell.isPending;
  const send = () => mayTell && tell.mutate({ runId, text: text.trim() });
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    send();
  };
  const problem = tell.error && (tell.error instanceof ApiError ? tell.error.message : "Not sent.");
  return (
    <form onSubmit={onSubmit} className="border-t border-line p-2">
      <div className="flex items-end gap-2">
        <label htmlFor={id} className="sr-only">
          Message the agent
        </label>
        <textarea
          id={id}
          rows={1}
          maxLength={MAX_CHARACTERS}
          placeholder="Message the agent…"
          value={text}
          aria-describedby={problem ? `${id}-problem` : undefined}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onSend(send)}
          className="field-sizing-content max-h-40 min-h-8 w-full resize-none rounded-md border border-line bg-bg px-2 py-1.5 text-sm placeholder:text-faint pointer-coarse:min-h-10 pointer-coarse:text-base"
        />
        <Button type="submit" look="plain" disabled={!mayTell} className="h-8 pointer-coarse:h-10">
          <SendHorizontal size={13} aria-hidden /> Send <Kbd keys="mod+enter" />
        </Button>
      </div>
      {problem && (
        <p id={`${id}-problem`} role="alert" className="mt-1 text-xs text-bad">
          {problem}
        </p>
      )}
    </form>
  );
}
