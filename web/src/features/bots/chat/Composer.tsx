import { ArrowUp, Square } from "lucide-react";
import { type FormEvent, type KeyboardEvent, type RefObject, useId } from "react";
import { Button } from "@/ui/Button";
import { Kbd } from "@/ui/Kbd";
import { Refusal } from "@/ui/Refusal";
import { KeyLink } from "./KeyLink";
import type { Words } from "./useWords";

export const MAX_CHARACTERS = 100_000;

type Props = {
  name: string;
  words: Words;
  isAnswering: boolean;
  isStopping: boolean;
  field: RefObject<HTMLTextAreaElement | null>;
  stop: () => void;
  /** Edit the last question again. */
  editLast: () => void;
};

/** The message field. Enter sends, Shift+Enter starts a new line. */
export function Composer(props: Props) {
  const { name, isAnswering, field } = props;
  const { text, setText, send, problem, mayTry } = props.words;
  const id = useId();
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    send();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) send();
    else if (event.key === "ArrowUp" && text === "") props.editLast();
    else if (event.key === "Escape") isAnswering ? props.stop() : field.current?.blur();
    else return;
    event.preventDefault();
  };
  return (
    <form onSubmit={onSubmit} className="mx-auto w-full max-w-[760px] px-4 pt-1 pb-3 max-sm:px-2">
      <div className="mb-2 empty:hidden">
        <Refusal error={problem}>
          <KeyLink problem={problem} />
        </Refusal>
      </div>
      <div className="flex items-end gap-2 rounded-lg border border-line bg-surface p-1.5 focus-within:border-accent">
        <label htmlFor={id} className="sr-only">
          Message {name}
        </label>
        <textarea
          ref={field}
          id={id}
          dir="auto"
          rows={1}
          maxLength={MAX_CHARACTERS}
          placeholder={`Message ${name}…`}
          value={text}
          aria-describedby={`${id}-note`}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
          className="field-sizing-content max-h-[212px] min-h-7 w-full resize-none bg-transparent px-1.5 py-1 text-base outline-none placeholder:text-faint pointer-coarse:min-h-9"
        />
        {isAnswering ? (
          <Button onClick={props.stop} disabled={props.isStopping}>
            <Square size={12} aria-hidden className="fill-current" /> Stop <Kbd keys="esc" />
          </Button>
        ) : (
          <Button type="submit" look="primary" disabled={!mayTry}>
            <ArrowUp size={14} aria-hidden /> Send
          </Button>
        )}
      </div>
      <p id={`${id}-note`} className="mt-1 px-2 text-xs text-faint max-sm:hidden">
        {isAnswering && text.trim()
          ? "You can send when the answer is complete or stopped."
          : "Enter to send · Shift+Enter for a new line"}
      </p>
    </form>
  );
}
