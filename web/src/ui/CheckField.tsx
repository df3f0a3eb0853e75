import { useId } from "react";

export function CheckField({
  label,
  hint,
  checked,
  onChange,
}: {
  label: string;
  hint: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
}) {
  const id = useId();
  return (
    <div className="flex items-baseline gap-2">
      <input
        id={id}
        type="checkbox"
        className="size-3.5 shrink-0 translate-y-0.5 accent-accent"
        checked={checked}
        aria-describedby={`${id}-hint`}
        onChange={(event) => onChange(event.target.checked)}
      />
      <div className="min-w-0">
        <label htmlFor={id} className="mr-2 font-medium">
          {label}
        </label>
        <span id={`${id}-hint`} className="text-dim">
          {hint}
        </span>
      </div>
    </div>
  );
}
