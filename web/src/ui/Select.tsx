import { clsx } from "clsx";
import { ChevronsUpDown } from "lucide-react";
import type { ComponentProps } from "react";

type Props = Omit<ComponentProps<"select">, "onChange" | "value"> & {
  label: string;
  value: string;
  options: readonly { value: string; label: string }[];
  onChange: (value: string) => void;
};

/** A native select, for phones and screen readers. */
export function Select({ label, value, options, onChange, className, ...rest }: Props) {
  return (
    <span className={clsx("relative inline-flex", className)}>
      <select
        aria-label={label}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        className="select h-7 w-full appearance-none items-center rounded-md border border-line bg-surface pr-7 pl-2.5 text-sm hover:border-strong pointer-coarse:h-9"
        {...rest}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
      <ChevronsUpDown
        aria-hidden
        size={13}
        className="pointer-events-none absolute top-1/2 right-2 -translate-y-1/2 text-faint"
      />
    </span>
  );
}
