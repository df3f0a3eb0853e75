import { clsx } from "clsx";
import { Search } from "lucide-react";
import { type RefObject, useRef } from "react";
import { Kbd } from "./Kbd";
import { useShortcut } from "./shortcuts";

type Props = {
  label: string;
  /** Where its key stands in the list of shortcuts, and as what; without `keyLabel` as its own label. */
  group: string;
  keyLabel?: string;
  placeholder: string;
  value: string;
  onChange: (words: string) => void;
  maxLength?: number;
  className?: string;
  ref?: RefObject<HTMLInputElement | null>;
};

/** Words to look for. `/` leads to it, Escape out of it. */
export function SearchField({
  label,
  group,
  keyLabel = label,
  placeholder,
  value,
  onChange,
  maxLength = 200,
  className = "w-60 max-sm:w-full",
  ref,
}: Props) {
  const own = useRef<HTMLInputElement>(null);
  const input = ref ?? own;
  useShortcut("/", { label: keyLabel, group }, () => input.current?.focus());
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
        className="h-7 w-full rounded-md border border-line bg-surface pr-7 pl-7 placeholder:text-faint hover:border-strong pointer-coarse:h-9 pointer-coarse:text-base"
      />
      {!value && (
        <span aria-hidden className="absolute top-1 right-1.5 text-dim">
          <Kbd keys="/" />
        </span>
      )}
    </div>
  );
}
