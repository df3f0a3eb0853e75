import { useMutation } from "@tanstack/react-query";
import { Pencil } from "lucide-react";
import { type KeyboardEvent, memo, useId, useRef, useState } from "react";
import type { ChatMessage } from "@/api/types";
import { Button, IconButton } from "@/ui/Button";
import { CopyButton } from "@/ui/CopyButton";
import { Markdown } from "@/ui/Markdown";
import { Refusal } from "@/ui/Refusal";
import { useFocusBack } from "@/ui/useFocusBack";
import { Branches } from "./Branches";
import { MAX_CHARACTERS } from "./Composer";
import { KeyLink } from "./KeyLink";
import { QUIET } from "./quiet";
import type { Talk } from "./useTalk";

type Props = {
  message: ChatMessage;
  talk: Talk;
  isEditing: boolean;
  /** null: no message is being edited. */
  edit: (messageId: string | null) => void;
  mayEdit: boolean;
};

/** A person's message. Editing it starts another branch. */
export const Question = memo(function Question({ message, talk, isEditing, edit, mayEdit }: Props) {
  const self = useRef<HTMLDivElement>(null);
  const pencil = useRef<HTMLButtonElement>(null);
  const isSent = useRef(false);
  // After sending, the edited question is replaced by a new one.
  const home = () => (isSent.current ? self.current?.closest<HTMLElement>("[role=log]") : pencil.current);
  useFocusBack(isEditing, home);
  if (isEditing) {
    const onSent = () => {
      isSent.current = true;
      edit(null);
    };
    return <Editing message={message} talk={talk} onSent={onSent} close={() => edit(null)} />;
  }
  return (
    <div ref={self} className="flex items-end justify-end gap-1 max-sm:flex-col-reverse">
      <div className="flex shrink-0 items-center py-1 max-sm:py-0">
        <span className={QUIET}>
          <CopyButton text={message.text} label="Copy question" iconOnly />
          {mayEdit && (
            <IconButton ref={pencil} label="Edit and send again" onClick={() => edit(message.id)}>
              <Pencil size={13} aria-hidden />
            </IconButton>
          )}
        </span>
        <Branches message={message} show={talk.show} />
      </div>
      <div className="min-w-0 rounded-lg border border-line bg-raised/70 px-3 py-2 text-base sm:max-w-[85%]">
        <Markdown text={message.text} />
      </div>
    </div>
  );
});

type EditingProps = { message: ChatMessage; talk: Talk; onSent: () => void; close: () => void };

function Editing({ message, talk, onSent, close }: EditingProps) {
  const [text, setText] = useState(message.text);
  const id = useId();
  const sending = useMutation({
    mutationFn: (words: string) => talk.ask(words, message.id),
    meta: { isShownInPlace: true },
    onSuccess: onSent,
  });
  const mayTry = text.trim() !== "" && !sending.isPending;
  const send = () => mayTry && sending.mutate(text);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) send();
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      className="space-y-2 rounded-lg border border-strong bg-surface p-2"
    >
      <label htmlFor={id} className="sr-only">
        Edit message
      </label>
      <textarea
        id={id}
        // biome-ignore lint/a11y/noAutofocus: the person has just asked to write here
        autoFocus
        maxLength={MAX_CHARACTERS}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
        className="field-sizing-content max-h-[212px] min-h-7 w-full resize-none bg-transparent px-1.5 py-1 text-base outline-none"
      />
      <Refusal error={sending.error}>
        <KeyLink problem={sending.error} />
      </Refusal>
      <div className="flex items-center justify-end gap-2">
        <p className="mr-auto px-1.5 text-xs text-faint max-sm:hidden">
          The previous version is kept as a branch.
        </p>
        <Button look="ghost" onClick={close}>
          Cancel
        </Button>
        <Button type="submit" look="primary" disabled={!mayTry}>
          Send
        </Button>
      </div>
    </form>
  );
}
