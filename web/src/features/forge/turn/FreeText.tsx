import { ArrowUp } from "lucide-react";
import { type FormEvent, type KeyboardEvent, type RefObject, useId, useState } from "react";
import { Button } from "@/ui/Button";

const MAX_CHARACTERS = 20_000;

type Props = {
  label: string;
  placeholder: string;
  isBusy: boolean;
  /** The turn cannot be answered with text. */
  isOff?: boolean;
  field?: RefObject<HTMLTextAreaElement | null>;
  send: (text: string) => void;
};

/** A free-text answer. Enter sends, Shift+Enter starts a new line. */
export function FreeText({ label, placeholder, isBusy, isOff = false, field, send }: Props) {
  const [text, setText] = useState("");
  const id = useId();
  const mayTry = text.trim() !== "" && !isBusy && !isOff;
  const submit = (event: FormEvent | KeyboardEvent) => {
    event.preventDefault();
    if (mayTry) send(text.trim());
  };
  return (
    <form
      onSubmit={submit}
      className="flex items-end gap-2 rounded-lg border border-line bg-surface p-1.5 focus-within:border-accent"
    >
      <label htmlFor={id} className="sr-only">
        {label}
      </label>
      <textarea
        ref={field}
        id={id}
        rows={1}
        maxLength={MAX_CHARACTERS}
        placeholder={placeholder}
        disabled={isOff}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) submit(event);
          else if (event.key === "Escape") event.currentTarget.blur();
        }}
        className="field-sizing-content max-h-[212px] min-h-7 w-full resize-none bg-transparent px-1.5 py-1 text-base outline-none placeholder:text-faint pointer-coarse:min-h-9"
      />
      <Button type="submit" look="primary" disabled={!mayTry}>
        <ArrowUp size={14} aria-hidden /> Send
      </Button>
    </form>
  );
}
