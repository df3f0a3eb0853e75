import { X } from "lucide-react";
import { type ClipboardEvent, type KeyboardEvent, useId, useState } from "react";
import { REACHES, type Reach } from "./choice";

type Props = {
  reach: Reach;
  values: readonly string[];
  onChange: (values: string[]) => void;
  disabled?: boolean;
  /** Shown while the list is empty. */
  empty?: string;
};

/** The hosts, folders or names that a grant covers. Enter adds one, Backspace removes the last. */
export function ReachField({ reach, values, onChange, disabled = false, empty }: Props) {
  const id = useId();
  const { label, one, example, isOne, wrong, ...words } = REACHES[reach];
  const [typed, setTyped] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const add = (text: string) => {
    const found = text.split(/[\n,]/).map(tidied(reach)).filter(Boolean);
    const bad = found.find((value) => !isOne.test(value));
    setProblem(bad === undefined ? null : wrong);
    if (bad !== undefined) return setTyped(text);
    setTyped("");
    if (found.length > 0) onChange([...new Set([...values, ...found])]);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" || event.key === ",") {
      event.preventDefault();
      add(typed);
    } else if (event.key === "Backspace" && typed === "" && values.length > 0) {
      onChange(values.slice(0, -1));
    }
  };
  const onPaste = (event: ClipboardEvent) => {
    const pasted = event.clipboardData.getData("text");
    if (!/[\n,]/.test(pasted)) return;
    event.preventDefault();
    add(typed + pasted);
  };
  const note =
    problem ?? (values.length === 0 ? (empty ?? words.empty) : values.includes("*") ? EVERYWHERE : null);
  return (
    <div>
      <label htmlFor={id} className="mb-1 block text-xs font-medium text-dim">
        {label}
      </label>
      <div className="flex flex-wrap items-center gap-1 rounded-md border border-line bg-bg p-1 focus-within:border-accent">
        {values.map((value) => (
          <span
            key={value}
            className="mono inline-flex max-w-full items-center rounded-sm bg-raised pl-1.5 leading-5"
          >
            <span className="truncate" title={value}>
              {value}
            </span>
            <button
              type="button"
              disabled={disabled}
              aria-label={`Remove ${value}`}
              onClick={() => onChange(values.filter((other) => other !== value))}
              className="ml-0.5 grid size-5 shrink-0 place-items-center rounded-sm text-faint hover:text-ink pointer-coarse:size-7"
            >
              <X size={11} aria-hidden />
            </button>
          </span>
        ))}
        <input
          id={id}
          value={typed}
          disabled={disabled}
          autoComplete="off"
          spellCheck={false}
          placeholder={values.length === 0 ? example : `Add another ${one}…`}
          aria-invalid={problem !== null}
          aria-describedby={note ? `${id}-note` : undefined}
          onChange={(event) => {
            setTyped(event.target.value);
            setProblem(null);
          }}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
          onBlur={() => typed.trim() && add(typed)}
          className="mono h-6 min-w-32 flex-1 bg-transparent px-1 outline-none placeholder:text-faint pointer-coarse:h-8 pointer-coarse:text-base"
        />
      </div>
      {note && (
        <p id={`${id}-note`} className={`mt-1 text-xs ${problem ? "text-bad" : "text-wait"}`}>
          {note}
        </p>
      )}
    </div>
  );
}

const EVERYWHERE = "Allows every public host.";

const tidied =
  (reach: Reach) =>
  (text: string): string =>
    reach === "hosts"
      ? text
          .trim()
          .toLowerCase()
          .replace(/^https?:\/\//, "")
          .replace(/\/$/, "")
      : text.trim();
