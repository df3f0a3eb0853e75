import { clsx } from "clsx";
import { Search, X } from "lucide-react";
import { type RefObject, useRef } from "react";
import { IconButton } from "./Button";
import { Kbd } from "./Kbd";
import { useShortcut } from "./shortcuts";

type Props = {
  label: string;
  /** The group and label of its `/` shortcut; without a group there is none. */
  group?: string;
  keyLabel?: string;
  placeholder: string;
  value: string;
  onChange: (words: string) => void;
  maxLength?: number;
  /** The label of the clear button; without it, the browser's own is shown. */
  clearLabel?: string;
  className?: string;
  ref?: RefObject<HTMLInputElement | null>;
};

/** A search field. `/` focuses it, Escape leaves it. */
export function SearchField({
  label,
  group,
  keyLabel = label,
  placeholder,
  value,
  onChange,
  maxLength = 200,
  clearLabel,
  className = "w-60 max-sm:w-full",
  ref,
}: Props) {
  const own = useRef<HTMLInputElement>(null);
  const input = ref ?? own;
  const hasKey = group !== undefined;
  useShortcut("/", { label: keyLabel, group: group ?? "", enabled: hasKey }, () => input.current?.focus());
  return (
    <div className={clsx("relative", className)}>
      <Search size={13} aria-hidden className="absolute top-1/2 left-2 -translate-y-1/2 text-faint" />
      <input
        ref={input}
        type="search"
        aria-label={label}
        placeholder={placeholder}
        autoComplete="off"
        spellCheck={false}
        maxLength={maxLength}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
        className={clsx(
          "h-7 w-full rounded-md border border-line bg-surface pr-7 pl-7 placeholder:text-faint hover:border-strong pointer-coarse:h-9 pointer-coarse:text-base",
          clearLabel && "[&::-webkit-search-cancel-button]:hidden",
        )}
      />
      {value && clearLabel && (
        <IconButton
          label={clearLabel}
          className="absolute! top-0 right-0"
          onClick={() => {
            onChange("");
            input.current?.focus();
          }}
        >
          <X size={13} aria-hidden />
        </IconButton>
      )}
      {!value && hasKey && (
        <span aria-hidden className="absolute top-1 right-1.5 text-dim">
          <Kbd keys="/" />
        </span>
      )}
    </div>
  );
}
